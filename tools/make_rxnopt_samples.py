"""Write the RxnOptBench samples: the tables, the datasets built from them, a random
prediction for each.

    python tools/make_rxnopt_samples.py

The tables are invented: the reactions are textbook ones and the trends are plausible,
but no number was measured. They hold what printed tables hold: footnote letters,
traces, bounds, ranges, ratios, empty cells. Every run writes the same bytes:
`dataset/rxnopt-tables/*.json`, `dataset/multiple_choice_*.json`,
`prediction/multiple_choice_*-random.json`.
"""

from __future__ import annotations

import json
import random
import sys
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from forecasteval.rxnopt.build.builder import Build, build_files, build_questions  # noqa: E402
from forecasteval.rxnopt.datasets import QUESTION_TYPES, dataset_name  # noqa: E402

SEED: Final = 6
RESULTS: Final = ("isolated_yield", "yield_ratio", "ee", "er", "dr", "rr")
SMILES: Final = {
    "K2CO3": "O=C([O-])[O-].[K+].[K+]",
    "Cs2CO3": "O=C([O-])[O-].[Cs+].[Cs+]",
    "K3PO4": "O=P([O-])([O-])[O-].[K+].[K+].[K+]",
    "NaOtBu": "CC(C)(C)[O-].[Na+]",
    "Et3N": "CCN(CC)CC",
    "DIPEA": "CCN(C(C)C)C(C)C",
    "DBU": "C1CCC2=NCCCN2CC1",
    "toluene": "Cc1ccccc1",
    "THF": "C1CCOC1",
    "DMF": "CN(C)C=O",
    "DMSO": "CS(C)=O",
    "MeCN": "CC#N",
    "DCM": "ClCCl",
    "EtOH": "CCO",
    "MeOH": "CO",
    "iPrOH": "CC(C)O",
    "1,4-dioxane": "C1COCCO1",
    "H2O": "O",
    "PPh3": "c1ccc(P(c2ccccc2)c2ccccc2)cc1",
    "PCy3": "C1CCC(P(C2CCCCC2)C2CCCCC2)CC1",
    "Pd(OAc)2": "CC(=O)[O-].CC(=O)[O-].[Pd+2]",
    "PdCl2": "Cl[Pd]Cl",
    "CuI": "[Cu]I",
    "L-proline": "OC(=O)[C@@H]1CCCN1",
    "AcOH": "CC(=O)O",
    "TFA": "OC(=O)C(F)(F)F",
    "EDC": "CCN=C=NCCCN(C)C",
    "DCC": "C1CCC(N=C=NC2CCCCC2)CC1",
    "HOBt": "On1nnc2ccccc21",
    "DMAP": "CN(C)c1ccncc1",
}

Molecules = list[tuple[str, str]]


def item(content: str) -> dict[str, str]:
    return {"content": content, "SMILES": SMILES.get(content, "")}


def items(cell: str) -> list[dict[str, str]]:
    """`EDC + HOBt` is two items, a dash none."""
    return (
        [] if cell in ("", "—") else [item(part.strip()) for part in cell.split(" + ")]
    )


def table(
    name: str,
    year: int | None,
    reactants: Molecules,
    products: Molecules,
    constant: dict[str, str],
    text: str,
    **more: Any,
) -> dict[str, Any]:
    """A table from lines of cells; in the header, names of results are results and all
    others are conditions.
    """
    head, *lines = (
        [cell.strip() for cell in line.split("|")] for line in text.strip().splitlines()
    )
    entries = []
    for number, line in enumerate(lines, 1):
        row = dict(zip(head, line, strict=True))
        conditions = {
            **constant,
            **{key: row[key] for key in head if key not in (*RESULTS, "entry")},
        }
        entries.append({
            "entry_idx": row.get("entry", str(number)),
            "rxn_id": "0",
            "conditions": {key: items(cell) for key, cell in conditions.items()},
            "results": {key: row.get(key) or None for key in RESULTS},
        })  # fmt: skip
    molecules = [
        [{"content": n, "SMILES": s} for n, s in side] for side in (reactants, products)
    ]
    return {
        "root_img_name": name, "source_file": f"{name}.json", "doi": "", "year": year,
        "is_table": True,
        "reactants": molecules[0], "products": molecules[1], "entries": entries, **more,
    }  # fmt: skip


def make_tables() -> list[dict[str, Any]]:
    tables = [
        table(
            "suzuki_anisole", 2016,
            [("4-bromoanisole", "COc1ccc(Br)cc1"), ("phenylboronic "
                                                    "acid", "OB(O)c1ccccc1")],
            [("4-methoxybiphenyl", "COc1ccc(-c2ccccc2)cc1")],
            {"reaction_temperature": "80 °C", "reaction_time": "12 h", "scale": "0.5 mmol"},
            """
            entry | catalysts          | reagents | solvents    | isolated_yield
            1     | Pd(PPh3)4 (5 mol%) | K2CO3    | toluene     | 61
            2     | Pd(PPh3)4 (5 mol%) | Cs2CO3   | toluene     | 68
            3     | Pd(PPh3)4 (5 mol%) | K3PO4    | toluene     | 74
            4     | Pd(PPh3)4 (5 mol%) | Et3N     | toluene     | 12
            5     | Pd(PPh3)4 (5 mol%) | K3PO4    | 1,4-dioxane | 83
            6     | Pd(PPh3)4 (5 mol%) | K3PO4    | THF         | 70
            7     | Pd(PPh3)4 (5 mol%) | K3PO4    | DMF         | 55 c
            8     | Pd(dppf)Cl2 (5 mol%) | K3PO4  | 1,4-dioxane | 94
            9     | Pd(OAc)2           | K3PO4    | 1,4-dioxane | 47
            10    | —                  | K3PO4    | 1,4-dioxane | n.d.
            11d   | Pd(dppf)Cl2 (5 mol%) | K3PO4  | 1,4-dioxane | 91
            """,
        ),
        table(
            "amination_chlorotoluene", 2018,
            [("4-chlorotoluene", "Cc1ccc(Cl)cc1"), ("morpholine", "C1COCCN1")],
            [("4-(p-tolyl)morpholine", "Cc1ccc(N2CCOCC2)cc1")],
            {"catalysts": "Pd2(dba)3 (1 mol%)", "reaction_temperature": "100 °C"},
            """
            ligand   | reagents | solvents    | yield_ratio
            PPh3     | NaOtBu   | toluene     | <5
            PCy3     | NaOtBu   | toluene     | 41
            XPhos    | NaOtBu   | toluene     | 92(88)
            RuPhos   | NaOtBu   | toluene     | 97 (95)
            BINAP    | NaOtBu   | toluene     | 36
            RuPhos   | Cs2CO3   | toluene     | 78
            RuPhos   | K3PO4    | toluene     | 52
            RuPhos   | NaOtBu   | 1,4-dioxane | 93 (90)
            RuPhos   | NaOtBu   | THF         | 81
            RuPhos   | NaOtBu   | DMF         | trace
            —        | NaOtBu   | toluene     | NR
            """,
        ),
        table(
            "aldol_proline", 2012,
            [("4-nitrobenzaldehyde", "O=Cc1ccc([N+](=O)[O-])cc1"), ("cyclohexanone", "O=C1CCCCC1")],
            [("anti-aldol", "O=C1CCCC[C@H]1[C@@H](O)c1ccc([N+](=O)[O-])cc1")],
            {"reaction_temperature": "rt"},
            """
            catalysts     | additive | solvents | reaction_time | isolated_yield | dr    | ee
            L-proline     | —        | DMSO     | 24 h          | 65             | 1.7:1 | 67
            L-proline     | H2O      | DMSO     | 24 h          | 71             | 2 : 1 | 74
            L-proline     | H2O      | DMF      | 24 h          | 68             | 1.5:1 | 70
            siloxyproline | H2O      | H2O      | 24 h          | 86             | 13:1  | 97
            siloxyproline | H2O      | DMSO     | 24 h          | 62             | 4:1   | 89
            siloxyproline | H2O      | toluene  | 24 h          | 77             | >20:1 | 98[b]
            siloxyproline | TFA      | H2O      | 24 h          | 93             | >20:1 | >99
            prolinamide   | TFA      | H2O      | 24 h          | 40–50          | 95/5  | 91
            prolinamide   | AcOH     | H2O      | 48 h          | 38             | 6:1   | 85
            prolinamide   | —        | H2O      | 48 h          | trace          | nd    | nd
            """,
        ),
        table(
            "ketone_hydrogenation", 2009,
            [("acetophenone", "CC(=O)c1ccccc1"), ("hydrogen", "[H][H]")],
            [("(R)-1-phenylethanol", "C[C@@H](O)c1ccccc1")],
            {"catalysts": "[RuCl2(p-cymene)]2", "reaction_time": "16 h"},
            """
            ligand      | reagents | solvents | pressure | yield_ratio | ee
            (S)-BINAP   | NaOtBu   | iPrOH    | 10 bar   | 54          | 21
            (S)-BINAP / (S)-DAIPEN | NaOtBu | iPrOH | 10 bar | quant.  | 94
            (S)-BINAP / (R)-DAIPEN | NaOtBu | iPrOH | 10 bar | 88      | −57
            (S,S)-TsDPEN | NaOtBu  | iPrOH    | 10 bar   | >99%        | 97% (R)
            (S,S)-TsDPEN | K2CO3   | iPrOH    | 10 bar   | 75          | 96
            (S,S)-TsDPEN | NaOtBu  | MeOH     | 10 bar   | 91          | 82
            (S,S)-TsDPEN | NaOtBu  | toluene  | 10 bar   | 33          | 90
            (S,S)-TsDPEN | NaOtBu  | iPrOH    | 1 bar    | 20          | 97
            PPh3        | NaOtBu   | iPrOH    | 10 bar   | 69          | rac
            —           | NaOtBu   | iPrOH    | 10 bar   | <5          | –
            """,
        ),
        table(
            "heck_butyl_acrylate", 2005,
            [("iodobenzene", "Ic1ccccc1"), ("butyl acrylate", "C=CC(=O)OCCCC")],
            [("butyl cinnamate", "CCCCOC(=O)/C=C/c1ccccc1")],
            {"solvents": "DMF"},
            """
            catalysts | ligand | reagents | reaction_temperature | yield_ratio
            Pd(OAc)2  | PPh3   | Et3N     | 100 °C               | 89
            Pd(OAc)2  | PPh3   | K2CO3    | 100 °C               | 80
            Pd(OAc)2  | PPh3   | DIPEA    | 100 °C               | 76
            Pd(OAc)2  | PPh3   | Et3N     | 60 °C                | 31
            Pd(OAc)2  | PPh3   | Et3N     | 120 °C               | 85
            Pd(OAc)2  | —      | Et3N     | 100 °C               | 64
            Pd(OAc)2  | PCy3   | Et3N     | 100 °C               | 71
            PdCl2     | PPh3   | Et3N     | 100 °C               | 82
            PdCl2     | —      | K2CO3    | 120 °C               | ~50
            —         | PPh3   | Et3N     | 100 °C               | 0
            """,
        ),
        table(
            "giese_photoredox", 2020,
            [("Boc-Pro-OH", "CC(C)(C)OC(=O)N1CCCC1C(=O)O"), ("methyl acrylate", "C=CC(=O)OC")],
            [("adduct", "COC(=O)CCC1CCCN1C(=O)OC(C)(C)C")],
            {"reaction_time": "24 h", "atmosphere": "N2"},
            """
            entry| photocatalyst| reagents| solvents| light_condition| isolated_yield| yield_ratio
            1    | Ir(ppy)3     | K2CO3   | DMF     | blue LED       | 40            | 46
            2    | 4CzIPN       | K2CO3   | DMF     | blue LED       | 73            | 78
            3    | 4CzIPN       | Cs2CO3  | DMF     | blue LED       | 81            | 86
            4    | 4CzIPN       | DBU     | DMF     | blue LED       |               | 22
            5    | 4CzIPN       | Cs2CO3  | DMSO    | blue LED       | 88            | 95
            6    | 4CzIPN       | Cs2CO3  | MeCN    | blue LED       | 59            | 63
            7    | 4CzIPN       | Cs2CO3  | DMSO    | green LED      |               | 17
            8    | 4CzIPN       | Cs2CO3  | DMSO    | dark           |               | n.d.
            9    | —            | Cs2CO3  | DMSO    | blue LED       |               | <5
            10   | eosin Y      | Cs2CO3  | DMSO    | green LED      |               | complex
            11   | eosin Y      | Cs2CO3  | DMSO    | blue LED       |               | 9
            """,
        ),
        table(
            "hydroformylation_octene", 2003,
            [("1-octene", "CCCCCCC=C"), ("carbon monoxide", "[C-]#[O+]"), ("hydrogen", "[H][H]")],
            [("nonanal", "CCCCCCCCC=O"), ("2-methyloctanal", "CCCCCCC(C)C=O")],
            {"catalysts": "Rh(acac)(CO)2", "solvents": "toluene"},
            """
            ligand     | ratio_L_Rh | pressure | reaction_temperature | yield_ratio | rr
            PPh3       | 10         | 20 bar   | 80 °C                | 91          | l/b = 73:27
            PPh3       | 50         | 20 bar   | 80 °C                | 84          | 80:20
            xantphos   | 5          | 20 bar   | 80 °C                | 88          | 98:2
            xantphos   | 5          | 40 bar   | 80 °C                | 93          | 96:4
            xantphos   | 5          | 20 bar   | 60 °C                | 42          | >99:1
            xantphos   | 5          | 20 bar   | 100 °C               | 90          | 94:6
            biphephos  | 5          | 20 bar   | 80 °C                | 79          | 97:3
            dppe       | 5          | 20 bar   | 80 °C                | 37          | 2.1
            —          | 0          | 20 bar   | 80 °C                | 66          | 1:1.1
            """,
        ),
        table(
            "diels_alder_acrolein", 2001,
            [("cyclopentadiene", "C1=CCC=C1"), ("acrolein", "C=CC=O")],
            [("norbornene carbaldehyde", "O=CC1CC2C=CC1C2")],
            {"reaction_time": "4 h"},
            """
            catalysts           | solvents | reaction_temperature | isolated_yield | dr        | ee
            imidazolidinone·HCl | MeOH     | 23 °C                | 82             | 1:1.3     | 70
            imidazolidinone·HCl | MeCN     | 23 °C                | 75             | 1.2:1     | 76
            imidazolidinone·HCl | MeCN     | −20 °C               | 70             | 2.4:1     | 88
            imidazolidinone·TFA | MeCN     | −20 °C               | 85             | 3:1       | 91
            imidazolidinone·TFA | DCM      | −20 °C               | 64             | 4:1       | 84
            BF3·OEt2            | DCM      | −20 °C               | 89             | 9:1       | 0
            BF3·OEt2            | DCM      | 23 °C                | 78             | 4 : 1     | 0
            —                   | MeOH     | 23 °C                | 25             | 3:1       | 0
            """,
        ),
        electrolysis(),
        table(
            "click_triazole", 2010,
            [("benzyl azide", "[N-]=[N+]=NCc1ccccc1"), ("phenylacetylene", "C#Cc1ccccc1")],
            [("1-benzyl-4-phenyl-1,2,3-triazole", "c1ccc(Cn2cc(-c3ccccc3)nn2)cc1")],
            {"reaction_temperature": "rt"},
            """
            catalysts     | reagents          | solvents | reaction_time | isolated_yield | rr
            CuSO4         | sodium ascorbate  | H2O      | 8 h           | 91             | >20:1
            CuSO4         | sodium ascorbate  | EtOH     | 8 h           | 84             | >20:1
            CuSO4         | —                 | H2O      | 8 h           | tr.            | –
            CuI           | Et3N              | MeCN     | 8 h           | 88             | >20:1
            CuI           | Et3N              | H2O      | 8 h           | 73             | >20:1
            CuI           | —                 | MeCN     | 8 h           | 35             | 10:1
            Cp*RuCl(PPh3)2 | —                | THF      | 8 h           | 80             | 1:19
            —             | —                 | toluene  | 48 h          | 60             | 1.6:1
            """,
        ),
        table(
            "amide_coupling", None,
            [("benzoic acid", "OC(=O)c1ccccc1"), ("benzylamine", "NCc1ccccc1")],
            [("N-benzylbenzamide", "O=C(NCc1ccccc1)c1ccccc1")],
            {"reaction_temperature": "25 °C", "reaction_time": "6 h"},
            """
            reagents   | base  | solvents | yield_ratio
            EDC        | DIPEA | DCM      | 0.52
            EDC + HOBt | DIPEA | DCM      | 0.86
            EDC + HOBt | Et3N  | DCM      | 0.81
            EDC + HOBt | DIPEA | DMF      | 0.9
            EDC + HOBt | DIPEA | THF      | 0.67
            EDC + DMAP | DIPEA | DCM      | 0.73
            DCC + HOBt | DIPEA | DCM      | 0.78
            HATU       | DIPEA | DMF      | 0.97
            HATU       | Et3N  | DMF      | 0.93
            HATU       | DIPEA | MeCN     | 0.92
            —          | DIPEA | DMF      | 0
            """,
            yield_scale="fraction",
        ),
        table(
            "henry_copper", 2014,
            [("benzaldehyde", "O=Cc1ccccc1"), ("nitromethane", "C[N+](=O)[O-]")],
            [("(R)-2-nitro-1-phenylethanol", "O[C@@H](C[N+](=O)[O-])c1ccccc1")],
            {"reaction_time": "24 h"},
            """
            catalysts | ligand     | reagents | solvents | isolated_yield | er
            Cu(OAc)2  | box-Ph     | —        | EtOH     | 76             | 87:13
            Cu(OAc)2  | box-tBu    | —        | EtOH     | 83             | 93:7
            Cu(OAc)2  | pybox-iPr  | —        | EtOH     | 61             | 45:55
            Cu(OAc)2  | box-tBu    | —        | iPrOH    | 88             | 95 : 5
            Cu(OAc)2  | box-tBu    | —        | THF      | 58             | 92:8 er
            Cu(OAc)2  | box-tBu    | DIPEA    | iPrOH    | 95             | 94:6
            Cu(OAc)2  | box-tBu    | Et3N     | iPrOH    | 97             | 79:21
            Cu(OTf)2  | box-tBu    | Et3N     | iPrOH    | 64             | 90/10
            Cu(OTf)2  | box-tBu    | —        | iPrOH    | traces         | nd
            """,
        ),
    ]  # fmt: skip
    scope = table(
        "suzuki_scope", 2016,
        [("aryl bromide", ""), ("phenylboronic acid", "OB(O)c1ccccc1")], [("biaryl", "")],
        {"reagents": "K3PO4"},
        "substituent | isolated_yield\n4-OMe | 94\n4-CF3 | 88\n2-Me | 71",
    )  # fmt: skip
    return [*tables, {**scope, "is_table": False}]


def electrolysis() -> dict[str, Any]:
    """A table whose cell settings stand inside `current_conditions`."""
    made = table(
        "alcohol_electrooxidation", 2022,
        [("benzyl alcohol", "OCc1ccccc1")], [("benzaldehyde", "O=Cc1ccccc1")],
        {"Anode(+)": "graphite", "Cathode(-)": "Ni", "catalysts": "TEMPO (5 mol%)"},
        """
        Electrolyte        | Constant_Current | solvents   | yield_ratio
        NaHCO3 (0.2 M)     | 10 mA            | MeCN + H2O | 71
        NaHCO3 (0.2 M)     | 20 mA            | MeCN + H2O | 90
        NaHCO3 (0.2 M)     | 40 mA            | MeCN + H2O | 77
        NaHCO3 (0.2 M)     | 20 mA            | H2O + MeCN | 88
        NaHCO3 (0.2 M)     | 20 mA            | H2O        | 42
        K2CO3              | 20 mA            | MeCN + H2O | 81
        n-Bu4NBF4 (0.1 M)  | 20 mA            | MeCN       | 30
        n-Bu4NBF4 (0.1 M)  | 20 mA            | MeCN + H2O | 48
        n-Bu4NBF4 (0.1 M)  | 40 mA            | MeCN       | <10
        —                  | 20 mA            | MeCN + H2O | n.d.
        """,
    )  # fmt: skip
    for entry in made["entries"]:
        conditions = entry["conditions"]
        conditions["current_conditions"] = {
            key: conditions.pop(key)
            for key in ("Constant_Current", "Anode(+)", "Cathode(-)")
        }
    return made


def make_prediction(build: Build, kind: str) -> dict[str, int]:
    """A random index for every question; each has its own generator, so that no other
    question matters.
    """
    return {
        question["id"]: (
            random.Random(f"{SEED} {question['id']}").randrange(
                len(question["options"])
            )
        )
        for question in build.questions
        if question["question_type"] == kind
    }


def make_files() -> dict[str, str]:
    """The text of every sample by its path from the root."""
    tables = make_tables()
    files = {
        f"dataset/rxnopt-tables/{made['root_img_name']}.json": (
            json.dumps(made, ensure_ascii=False, indent=1) + "\n"
        )
        for made in tables
    }
    build = build_questions({made["source_file"]: made for made in tables}, seed=SEED)
    texts = build_files(build)
    for kind in QUESTION_TYPES:
        files[f"dataset/{dataset_name(kind)}"] = texts[dataset_name(kind)]
        prediction = json.dumps(make_prediction(build, kind), indent=1) + "\n"
        files[f"prediction/{dataset_name(kind).removesuffix('.json')}-random.json"] = (
            prediction
        )
    return files


def main() -> None:
    for name, text in make_files().items():
        path = ROOT / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
