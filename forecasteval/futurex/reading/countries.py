"""Countries by the codes and short names that sports and economics write (rule 8).

Three-letter codes are ISO's or the IOC's. Of two letters only US and UK count: NO, IN
and IT are words.
"""

from __future__ import annotations

from typing import Final

from forecasteval.common.patterns import split_words

_TABLE: Final = (  # the name, then its codes and other names
    "United States, USA, US, U.S, U.S.A, United States of America, America",
    "United Kingdom, GBR, UK, U.K, Great Britain, Britain",
    "Netherlands, NED, NLD, The Netherlands, Holland",
    "South Korea, KOR, Republic of Korea, Korea",
    "North Korea, PRK, DPRK",
    "China, CHN, PRC, People's Republic of China",
    "Hong Kong, HKG, Hong Kong China",
    "Taiwan, TPE, TWN, Chinese Taipei",
    "Russia, RUS, Russian Federation",
    "Czech Republic, CZE, Czechia",
    "United Arab Emirates, UAE, ARE",
    "Turkey, TUR, Türkiye",
    "Ivory Coast, CIV, Côte d'Ivoire",
    "Iran, IRI, IRN",
    "Germany, GER, DEU",
    "Switzerland, SUI, CHE",
    "Croatia, CRO, HRV",
    "Denmark, DEN, DNK",
    "Greece, GRE, GRC",
    "Portugal, POR, PRT",
    "Slovenia, SLO, SVN",
    "Latvia, LAT, LVA",
    "Bulgaria, BUL, BGR",
    "South Africa, RSA, ZAF",
    "Saudi Arabia, KSA, SAU",
    "Chile, CHI, CHL",
    "Uruguay, URU, URY",
    "Paraguay, PAR, PRY",
    "Philippines, PHI, PHL",
    "Malaysia, MAS, MYS",
    "Indonesia, INA, IDN",
    "Vietnam, VIE, VNM",
    "Algeria, ALG, DZA",
    "Nigeria, NGR, NGA",
    "Norway, NOR",
    "Sweden, SWE",
    "Finland, FIN",
    "Iceland, ISL",
    "France, FRA",
    "Italy, ITA",
    "Spain, ESP",
    "Austria, AUT",
    "Belgium, BEL",
    "Poland, POL",
    "Ukraine, UKR",
    "Hungary, HUN",
    "Romania, ROU",
    "Serbia, SRB",
    "Ireland, IRL",
    "Canada, CAN",
    "Mexico, MEX",
    "Brazil, BRA",
    "Argentina, ARG",
    "Colombia, COL",
    "Japan, JPN",
    "India, IND",
    "Australia, AUS",
    "New Zealand, NZL",
    "Kenya, KEN",
    "Egypt, EGY",
)
_NAMES: Final = {
    name: row[0] for row in map(split_words, _TABLE) for name in row[1:]
}  # by code or other name


def name_country(text: str) -> str:
    """Return the name of the country that a text is in other words or as a
    code, or the text.

    >>> name_country("NED"), name_country("U.S."), name_country("Us"), name_country("NO")
    ('Netherlands', 'United States', 'Us', 'NO')
    """  # noqa: E501
    return _NAMES.get(text.rstrip("."), text)
