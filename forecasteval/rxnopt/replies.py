"""Replies: the option index that a model's text states, or why it states none."""

from __future__ import annotations

import itertools
import re
import unicodedata
from typing import Final

from forecasteval.common.markup import last_boxed
from forecasteval.common.records import as_text

NO_INDEX: Final = "no index"
CONFLICT: Final = "two different indices"

# --- Patterns, made of words and parts: {NAME} stands for one, in what follows, too ---

_WORDS: Final = {
    # A statement: Answer: 2 · "best_option": 2 · The option with the best base
    # is 2 · Best: 2
    "NOUN": "answer · ans · prediction · pick · selection · recommendation · verdict · "
    "guess"
    " · decision · choice · vote · option · index",
    "TITLE": "assistant · by elimination · best · final · optimal · conclusion · "
    "result · output"
    " · response · solution · overall · summary · winner · selected · recommended · "
    "likely"
    " · optimum · tl;dr · argmax",
    # A clause that chooses
    "VERB": "lean to · leaning to · choose · chose · chosen · choosing · pick · picked "
    "· picking"
    " · select · selected · selecting · say · mean · meant · go with · going with · go "
    "for"
    " · going for · opt for · vote for · bet on · suggest · propose · conclude · "
    "points to"
    " · goes to · recommend using · should use · i'd try · lean towards · leaning "
    "towards"
    " · recommend · prefer · favor · favour · rank · would use · i'd use · would run · "
    "i'd run"
    " · would start with · i'd start with · let's run · let's try · leaves · leaves "
    "only"
    " · choose one · pick one · i'd answer · i'll answer · would answer · change my "
    "answer to"
    " · revise my answer to",
    "选": "选 · 选择 · 推荐 · 倾向于 · 只剩",
    "EXPECT": "predict · expect · believe · predict that · expect that · believe that",
    "SO": "in short · overall · therefore · thus · hence · so · conclusion · likely · "
    "probably"
    " · think · guess · it's · it is · be · i[.]e[.] · this corresponds to · that "
    "corresponds to",
    "所以": "应为 · 应是 · 判断是 · 即 · 因此 · 所以 · 综上 · 可能是 · 大概是 · 应该是",
    "标题": "最佳 · 最优 · 最好 · 结果 · 结论 · 预测 · 答",
    "答案": "索引 · 答案 · 编号 · 判断",
    "GOOD": "best · top · highest · highest-yielding · optimal · ideal · superior · "
    "correct"
    " · right · promising · suitable · effective · reasonable · favorable · favourable",
    "ALL": "chance · option · choice · pick · compromise · product · yield · result · "
    "outcome"
    " · score · overall · condition · set · one · candidate · suited · for · of · here "
    "· due"
    " · balance · combination · answer · to · under · in",
    "WINS": "safest bet · greatest potential · maximizes yield · maximises yield · "
    "wins · chosen"
    " · favored · favoured · comes out on top · maximizes the yield · maximises the "
    "yield"
    " · the one · outperforms · outperform · beats all · recommended · preferred · "
    "selected"
    " · stands out · strongest candidate · what i would · my vote",
    "MY": "my · the · my first · the first · my final · the final · the clear",
    "BY": "is · are · be · for · with · from · by · in · of · under",
    "最好": "更优 · 最佳 · 最优 · 最好 · 最高 · 最可能 · 最合适 · 非常好 · 更好",
    # What chooses nothing: it denies, supposes, or tells what others choose
    "NOT": "not · neither · nor · never · none · cannot · avoid · avoiding · avoided · "
    "except"
    " · exclude · excluded · excluding · reject · rejected · worse · worst · wrong · "
    "lowest"
    " · lowest-yielding · weak · weaker · weakest · poor · poorer · poorest · poorly · "
    "least"
    " · less · unlikely · hardly · doubt · doubtful · incorrect · fail · fails · "
    "failed · bad"
    " · runner · but too · misleading · but (?:(?:it|this|that) "
    ")?(?:lacks|ignores|contradicts)",
    "OTHERS": "whether · unless · had it · had the · was · could · might · suppose · "
    "theory"
    " · naive · initially · glance · sight · second · next · others would · others "
    "might"
    " · people · chemists · students · they · novice · beginner · nobody · many · one "
    "would"
    " · one might · one could · someone · each · every · another · for now · first "
    "chose"
    " · first thought · first picked · first considered · one may · you might · you may"
    " · tempting · tempted · temptation · instinct · instincts · instinctively · "
    "intuition"
    " · intuitively · on paper · superficially · seemingly · almost · some would · "
    "some might"
    " · some may · you would · you'd · thought about · commonly"
    r" · (?:obvious|textbook|classic|usual|typical|popular|natural|intuitive)"
    r"(?=[^.;\n]{0,80}\b(?:but|yet)\b)",
    "不": "其次 · 排除 · 避免 · 如果 · 最差 · 最低 · 很多人 · 有人 · 一般会 · 原本 · "
    "本来"
    " · 理论上 · ❌",
    # What may follow a bare number, else it is an amount: 3 F/mol
    "GOES_ON": "seems · looks · appears · will · because · since · as it · as its · as "
    "this"
    " · as option · with · for · due · given · based · rather · and · but · not · "
    "would · should"
    " · alone",
    # A number with a unit is an amount.
    "UNIT": "equiv(?:alent)?s? · eq · m?mol · [mn] · [mkµ]?g · m?l · h · hrs? · hours? "
    "· s"
    " · min(?:ute)?s? · days? · °c? · [ck] · m?[avw] · f · atm · bar · [mk]?pa · psi · "
    "nm · wt"
    " · vol · ppm · rpm · percent · times · -?fold · steps? · points? · 当量 · 小时 · "
    "分钟 · 度",
    "OVER": "not · over · rather than · instead of",
    "LIKELY": "expected · predicted · overall · possible · effective · likely · "
    "probably"
    " · perhaps · maybe · therefore · thus · clearly · still · also · the · it is · "
    "it's",
    "WORD": "options · option · opt[.] · nr[.] · idx · choice · index · number · no[.]"
    " · condition set · condition · candidate",
    "OR": "and/or · or · and · vs · to · maybe · even · possibly · along with · "
    "together with"
    " · like · alongside · as well as · also · tie[sd]? with · alternatively · else · "
    "through",
    "PLURAL": "both · either · options · choices · indices · candidates · conditions · "
    "numbers",
    "SPLIT": "so · not · while · whereas · although · followed",
    "而": "其次 · 即 · 而 · 但 · 是 · 所以 · 因此 · 故 · 只剩",
    "SEEMS": "is · seems · should · would · may · looks · appears · will",
    "WHICH": "which · where · with · using",
    "NO": "not · neither · never · any · all",
    "OH": "but · oh · hmm · no",
    "BECAUSE": "because · since · due to",
    "CORRECT": "i (?:need|have|want|ought) to · i must · i should · let me",
    "WRONG": "i was wrong · i am wrong · i made an? (?:mistake|error) · i apologi[sz]e "
    "· i misread"
    " · oops · re-?checking · re-?consider(?:ation|ing) · closer (?:inspection|look)"
    " · 抱歉 · 修正 · 更正 · 不对",
    "INDEX": "[\"']?(?:index|idx|索引)[\"' :=为是#]{0,4}",
    "LINK": r"[ ,;:=(\[\"'/–—-] · => · i[.]e[.] · which is · which has · which "
    r"corresponds to"
    r" · corresponding to · that is · that has · the · its · whose · has · is · with · "
    r"at"
    r" · in the list · in (?:1|one)-based (?:counting|numbering|terms)"
    r" · (?:1|one)-(?:based|indexed) · (?:0|zero)-(?:based|indexed)"
    r" · counting from (?:0|1|zero|one) · 即 · 对应 · 也就是",
    "ORDINAL": "[0-9]{1,3}(?:st|nd|rd|th) · first · second · third · fourth · fifth · "
    "sixth"
    " · seventh · eighth · ninth · tenth · last",
    # However, this is misleading: what takes the clause before it back
    "HOWEVER": "however · but · yet · though · although · nevertheless · and · in fact "
    "· sadly"
    " · still · no · wait · no wait · unfortunately · in reality · in practice · "
    "actually"
    " · on closer (?:inspection|look)",
    "BE": "['’]s · is · was · seems · looks · appears · turns out · would · will · can "
    "· could"
    " · may · might · does",
    "ADVERB": "to be · be · likely · probably · clearly · quite · very · just · only · "
    "simply · a"
    " · actually · really · in fact · also · an · the · entirely · necessarily",
    "CLAIM": "choice · answer · option · pick · conclusion · claim · impression · "
    "appearance"
    " · intuition · assumption · reasoning · view",
    "UNTRUE": "misleading · deceptive · deceiving · questionable · doubtful · premature"
    " · wrong · incorrect · false · untrue · mistaken · mistake"
    " · error · trap · illusion · fallacy · flawed · red herring",
    "TRUE": "so · case · true · right · correct · answer · best · it · valid · hold · "
    "hold up",
    # Option 2, closely followed by option 3: what names a runner-up
    "AHEAD": "(?:followed|trailed)(?: [a-z]+){0,4} by · ahead of · over · edges out · "
    "edging out"
    " · beats · beating · before · close behind,? · just behind,? · secondly"
    " · (?<=[0-9] )(?:and )?then · (?<=[0-9] )> · 优于 · 胜过",
    "WAIT": "wait · actually · correction · on reflection · on second thought"
    " · on second thoughts · upon reflection · edit · update · sorry · scratch that",
}
_PARTS: Final = {
    # Lines
    "LINE": r"{OPEN}{NAME}?{NUMBER}(?:{AND}{NAME}?{NUMBER}){0,9}"
    r"(?:,? \(?{OVER} (?:the )?{NAME}?[0-9]{1,6})?[ )\]}】».。!,;\"'选项号]{0,9}",
    "LEAD": r"{OPEN}(?:{LIKELY} )?(?:{NAMED} ?[(:,;]"
    r"|[0-9]{1,2}{SETS}|[2-9][0-9]?[.] (?!.*(?:{NAMED}|\n))"
    r"|{NUMBER} ?(?:\((?:0-based|[^()]*\)$)|[:;,)\]。](?! ?[0-9]))"
    r"|{NAME}?{NUMBER} (?:[-–—]+ |(?:{BECAUSE}|as)\b))",
    # Clauses that choose an option
    "PICKED": r"(?:\b{VERB}\b(?: "
    r"(?:the|that|for|conditions|of)){0,4}|(?<!候){选}(?!项)|(?:^|而)是)"
    r"[ :\"'(]*(?={NAME}?[0-9])|\b{EXPECT} (?={NAMED})"
    r"|\bestimate (?={NAMED} (?:at|to)\b.{1,20}\b(?:others|rest)\b)"
    r"|, (?=index [0-9]+[^,.;:]{0,20}\(0-based\)[.]?$)",
    "THUS": r"(?:\b{SO}(?![a-z])|^maybe |^perhaps |{所以})[ ,:]*(?:the )?"
    r"(?={NAME}?[0-9][0-9.]*\W{0,5}$)|=> ?(?={NAMED}\W{0,5}$)",
    "BEST": r"{PRAISE}[^;0-9\n]{0,60}?(?:(?:\b{BY}\b|[:是为]) ?(?:the "
    r")?(?={NAMED}|{NUMBER}号选项)"
    r"|\((?={NAMED}\)\W*$))"
    r"|(?:best|optimal|most {GOOD}) \w+ (?:is|would be) (?:the )?(?={NAMED})",
    "PRAISED": r"(?<!\sor |and |han )(?<!比)(?=(?:{NAMED}(?:{AND}{NAME}?{NUMBER})?"
    r"|(?:^|(?<=think )|(?<=, )|(?<=but )){NUMBER} {SEEMS}\b)"
    r"(?:, {WHICH}\b[^,\n]{0,80},)?"
    r"(?:(?!{NAMED})(?:[^,;:\n]|,[0-9产收])){0,60}?{PRAISE})",
    "ALONE": r"^(?:but |so )?(?:the )?(?={NAMED}\)?(?: is| it is)?[.!。]$)",
    "PRAISE": r"{GOOD}(?= (?:{LIKELY} )?{ALL}|\W{0,5}$|[,(:])|{MY} (?:{NOUN}|winner)\b"
    r"|(?:better than|优于)(?: all| the other|其他|.{0,9}[0-9]{AND})[^,;\n]{0,20}[.!。]"
    r"|(?:better|it is|remains)(?=\W{0,5}$)|{WINS}|{最好}",
    # A value
    "PERHAPS": r"(?:{LIKELY}\b[ :]*){0,3}(?:(?:conditions )?(?:of|in|from) "
    r"(?={NAMED}))?",
    "HEAD": r"(?:{WORD}[\"' "
    r"#:(\[-]{0,5}){1,2}(?:[0-9]{1,6}{END}|[a-z](?![a-z]))|{NAMED}",
    "NAMED": r"{NAME}{NUMBER}",
    "NAME": r"(?:(?:(?<![a-z]){WORD}|选项|索引|编号|#)(?:[ #:([]{0,3}\"?|-)){1,2}",
    "NUMBER": r"[0-9]{1,6}{END}",
    "END": r"(?:\.0+)?(?![a-z0-9%°]|[.,:/–—-][0-9])",
    "FREE": r"(?= ?(?:$|[.;!)\]}】»\"'<>=|。([因最更是并都]|号(?:选项|\W|$)"
    r"|[,:、](?! ?[0-9](?!-based|,[0-9]))|{SETS}|[-–—]+ |is(?! too)\b|{GOES_ON}\b))",
    "SETS": r": ?[0-9.]{1,9} ?{UNIT}(?![a-z/])",  # 0: 30 mA
    "OPEN": r"[ (\[{【«<#\"':]{0,9}",
    "AND": r"[ )(\]\"']{0,9}(?:(?:[,/&+–\n、或者和-]|\b{OR}\b)[ (]*){1,4}",
    "BOTH": r"[ )(\]\"']{0,9},? ?(?:[&/+或和与及]|\b(?:and|or|and/or)\b)[ (\"'#\[]*",
    "NONE": r"{NO}\b[^.,;\n0-9]{0,20}[0-9]|(?:it )?depends",
    # A clause, and what may take it back
    "CLAUSE": r"(?:^|(?<=[.;!?] )|(?<=[。\"{(]))(?:[^.;!?。\"{}()\n]|[.](?! "
    r")|\([^()\n]{0,99}\)"
    r"|\{[^{}\n\"]{0,20}\}){1,400}",
    "ANAPHOR": r"(?:this|that|it|which|(?:this|that|the|such an?) {CLAIM})(?:,? "
    r"{HOWEVER},?)? ?",
    "UNTRUTH": r"{BE}(?:,? {HOWEVER},)?(?: {ADVERB}){0,4} {UNTRUE}(?! "
    r"(?:to|that|whether)\b)"
    r"|{BE} ?(?:not|n?['’]t)(?:(?: {ADVERB}){0,4} {TRUE}(?! "
    r"(?!here|since|because|as|if)[a-z])"
    r"|(?=\W{0,3}$))|fails",
    "DISSENT": r"i (?:disagree|(?:do not|don['’]t) (?:think so|agree)"
    r"|(?:doubt|take|(?:do not|don['’]t) believe) (?:it|this|that)(?: back)?)(?! [a-z])"
    r"|or (?:so it (?:seems|appears)|(?:is|does) it\b)"
    r"|appearances |the opposite is|reality is|just kidding"
    r"|(?:on (?:second thoughts?|reflection),? )?no(?=\W{0,3}$)",
    # A statement
    "MARK": r"(?<![a-z]){NOUN}(?![a-z])|(?:(?<=[佳优终的确])|^)(?:选项|选择)|{答案}",
    "IS": r"(?: ?\([^()\n]{0,20}\))?(?:[\"' ]{0,3}(?:[-–—=]+>|[:=>]|\|(?! ?$)| "
    r"[-–—](?= )|】)"
    r"|{GAP}(?:\b(?:is|be)\b|应?该?[是为]))[ :=]*",
    "GAP": r"(?:(?!{VOID})[^.;:=>0-9\n]){0,60}?",
    "VOID": r"\b(?:{NOT}|{OTHERS}|no(?!\.)|if(?! (?:i (?:had|have|must)|forced)\b))\b"
    r"|n['’]t\b|(?<![0-9] )instead|[不非](?!常)|{不}|\?$",
}


def _pattern(pattern: str) -> re.Pattern[str]:
    for name, part in (_PARTS | _WORDS).items():
        pattern = pattern.replace(f"{{{name}}}", f"(?:{part})")
    return re.compile("(?im)" + pattern.replace(" · ", "|"))


_DIGITS: Final = "zero one two three four five six seven eight nine"
_PLAIN: Final = {  # what stands in place of thoughts, marks and blanks
    r"(?s)\A.*</think>|<think>.*": "",
    r"</?s>|<\|[^<>|]{1,40}\|>|"
    "[\u200b-\u200f\u2060\ufeff\ufe0f\u20e3✅✔✓➡\U0001f300-\U0001faff]": "",
    r"\\(?:text|math)\w*\{([^{}]*)\}|\\[\[\]()]": r"\1",
    r"[<\[]/[a-zA-Z_]{1,20}[>\]]": "\n",
    "→|⇒": "=>",
    r"(?m)^[^\S\n]*(?:[*•+] )": "- ",
    r"\n *\*\*([^*\n]*)\Z": r"\n\1…",
    r"(?<=[^0-9][.!?。]) \*\*(?=[^*\n]{1,40}\*\*\Z)": "\n",
    r"(?m)(?:[*`$_]|[^\S\n]|^[-=+>]*[=+>] )+": " ",
    r" ?\n[ \n]*": "\n",
    r"\A(?:- (?=.{,12}\Z)|\s)|\s\Z": "",
    "選": "选",
    "項": "项",
    "擇": "择",
    "號": "号",
    **{
        rf"(?i)(?<=option ){word}\b(?! (?:would|might)\b)": str(digit)
        for digit, word in enumerate(_DIGITS.split())
    },
}
# Where an option and its index are said, the index is what was asked for: Option
# 3 (index 2).
_INDEX: Final = _pattern(
    r"(?:(?!{INDEX}){HEAD}|(?:the )?{ORDINAL} (?:{WORD}|one|set(?: of conditions)?)"
    r"|第 ?[0-9]{1,6} ?个?{NAME}?)"
    r"(?:{LINK}){0,9}?{INDEX}([0-9]{1,6}){END}[\"')\]]{0,2}"
    r"|{INDEX}([0-9]{1,6}){END}(?:{LINK}){1,9}?(?!{INDEX}){HEAD}[\"')\]]{0,2}"
)
_ZERO_BASED: Final = _pattern(
    r"(?<![a-z0-9.])(?<!index )(?:(?:number|no[.]|item|entry) )?([0-9]{1,6}){END}"
    r"(?=(?:[^.;\n]{0,20}\(| in )(?:0|zero)-)"
)
# Who counts from 1, and says no index, states none.
_FROM_ONE: Final = _pattern(
    r"\b1[- ](?:based|indexed)|count(?:s|ing|ed)? from (?:1|one)\b|从 ?1 ?开始"
)
# Not 2 but 4: what is denied is said only to be replaced.
_REPLACED: Final = _pattern(
    r"(?:\bnot|n['’]t|不是|并非|不应?选|而?非) ?(?:be )?{NAME}?[0-9]{1,6}{END}[ ,;—–-]*"
    r"(?:but(?: rather)?|rather|instead|it(?:['’]s| is| should be)|[而应该]*[是为选]) *"
    r"(?={NAME}?[0-9])"
)
# Option 2 looks best; however, this is misleading: nothing of the first clause counts.
_TAKEN_BACK: Final = _pattern(
    r"{CLAUSE}[.;!?,:。…–—-]{1,3}[ \n]?(?:{HOWEVER},? "
    r"){0,3}(?:{ANAPHOR}{UNTRUTH}(?![a-z-])"
    r"|{DISSENT}|(?:但|不过|然而|可)?是?,?(?:这.{0,4}?[是属].{0,3}?"
    r"(?:误导|错|陷阱|不对|不正确|不成立)|(?:其实|事实|实际)上?并?[不非](?:然|是|对|如此)))"
)
# Option 2 followed closely by option 3 are best: whoever is praised, it is not 3.
_RUNNER_UP: Final = _pattern(
    r"({AHEAD}) ?(?:the )?{NAMED}(?:{AND}{NAME}?{NUMBER})*(?=,? [a-z]|[最产])"
)
# Of a heading, a list
_MARKER: Final = _pattern(r"^(?:- )*(?:#+ )?(?:\(?[0-9]{1,2}[.)] (?=\S))?")
# What follows the last of these replaces what stands before.
_LATER: Final = _pattern(
    # Whether or not an option follows
    r"\b{CORRECT} (?:correct|retract|revise)\b[^0-9.:\n]{0,40}"
    r"|(?:{WRONG}|(?:^|[.!?—–-] |,(?= no,))\W{0,4}(?:{OH}\b,? )?(?:{WAIT}\b|no,)\W*"
    r"|(?=\b(?:final(?:ly\b|:| {NOUN})|(?:revised|corrected|updated) "
    r"{NOUN})|最终[答选:是]))"
    r"(?=[^0-9]{0,999}+[0-9])"
)
# What begins with an option, two of them, or a denial. A number behind "and", or behind
# a plural, is a second one, whatever follows (Options 0 and 2 give …), but not an
# amount (3 and 2 equiv).
_VALUE: Final = _pattern(
    r"\A(?:- )?{OPEN}{PERHAPS}{OPEN}(?:(?P<none>{NONE})"
    r"|(?:(?P<plural>(?=[^0-9\n]{0,20}\b{PLURAL}\b))|)"
    r"(?P<name>{NAME})?(?P<first>[0-9]{1,6}){END}"
    r"(?:(?:(?P<both>{BOTH})|{AND}|; ?(?=[0-9]{1,6}\W{0,5}$))"
    r"(?P<other>{NAME})?(?P<second>[0-9]{1,6}){END}"
    r"(?! ?(?:is|are|comes|as|would "
    r"be)\b[^.;\n]{0,24}\b(?:{NOT}|second|next|third|last)\b)"
    r"(?(other)|(?(plural)|(?(both)(?! "
    r"?-?{UNIT}(?![a-z])|-[a-z])|{FREE})))|(?(name)|{FREE})))"
)
_STATED: Final = _pattern(
    r"({VOID}(?:(?!\bbut\b)[^.,;:\n]){0,40}?)?"
    r"(?:(?:{MARK}"
    r"|(?<![a-z]){TITLE}(?= ?[\"':=>|(-]| is)(?!\W{1,5}[0-9]{2})|{标题})"
    r"{IS}(?:\n(?=(?:.{1,20}|{OPEN}{NAMED}.*)$(?!\n{OPEN}{NAME}?[0-9])))?"
    r"|{MARK}[\n\]] ?|\bans\. )(?=([^:=\n].{0,60}))"
)
# A first or last line that is an option alone; below a heading it is one only
# if it is bare.
_END: Final = _pattern(
    r"(?:\A(?!#+ .*\n|(?s:.*)\n{LINE}\n)"
    r"|^(?:(?!#).*[^:\n]|(?!.*\b{NOT}\b).*(?=\n[0-9]+\Z))\n(?=[^#\n].*(?<![0-9][.)])\Z|.\Z))"
    r"(?=({LINE})$)"
)
_NEXT: Final = _pattern(  # the last two items of a list
    r"^([- #]{0,9}{OPEN}{NAME}?)([0-9]{1,6})(?![0-9]).*\n"
    r"(?:(?!\1[0-9]).*\n){0,4}\1([0-9]{1,6})\W*\Z"
)
_LED: Final = _pattern(
    r"\A(?!\(?[01]\)|.*[.;,] [0-9]{1,2}[).] "
    r")(?={LEAD})(.{1,60})(?!(?:.|\n)*\n(?:{LEAD}|{LINE}\Z))"
)
_CLAUSE_END: Final = _pattern(
    # A concession, whole
    r"(?:^|(?<=[.!?] ))(?:while|although|though|instead of|rather "
    r"than)\b[^,.;\n]{0,120}, ?"
    r"(?=[^\n]*[0-9])"
    r"|(?<=[。;!?]) ?|(?<=\.) |\n|, ?(?={SPLIT}\b)|,(?={而}|选[^项])"
    r"|,? (?={BECAUSE}\b)|, (?=as\b)|(?<!any)(?<!thing)(?<!all)(?<!one),? "
    r"(?=but\b[^,.]{0,40}[0-9])"
    r"|, (?={WHICH}\b[^,]*$)| (?=and {VERB}\b)|, (?={NAMED}(?:\.| (?:the|as)\b[^,]*)$)"
)
_VOID: Final = _pattern("^.*{VOID}.*")
_PICKED: Final = _pattern("(?:{PICKED}|{THUS})(?=(.{1,40}))")
_PRAISED: Final = _pattern("(?:{BEST}|{PRAISED}|{ALONE})(?=(.{1,40}))")


def parse_reply(reply: object) -> tuple[int | None, str]:
    r"""Read (index, "") of a reply, or (None, "no index" or "two different indices").

    These count: the last box; what is stated as the answer, also in JSON or a tag; a
    first or last line that is an option; without any of them, clauses that choose an
    option. Where they name two options, or deny one, there is no index: a wrong one
    would become a score.

    >>> parse_reply("Option 1 lacks a base.\nAnswer: 3"), parse_reply("Option 2 or Option 3")
    ((3, ''), (None, 'two different indices'))
    """  # noqa: E501
    text = unicodedata.normalize("NFKC", as_text(reply))
    for pattern, plain in _PLAIN.items():
        text = re.sub(pattern, plain, text)
    text = _ZERO_BASED.sub(r"index \1", text)
    text = _INDEX.sub(lambda said: f"index {said[said.lastindex or 0]}", text)
    text = _REPLACED.sub(": ", text)
    text = _TAKEN_BACK.sub("", text)
    text = _RUNNER_UP.sub(r"\1 the rest", text)
    if _FROM_ONE.search(text):
        return None, NO_INDEX
    box, is_boxed = last_boxed(text)
    text = _LATER.split(text)[-1]
    stated = [box] * is_boxed + _find_stated(text)
    values = _read_values(stated) or _read_values(_find_choices(text))
    if len(values) > 1:
        return None, CONFLICT
    if not "".join(values).isdecimal():
        return None, NO_INDEX
    return int(values.pop()), ""


def _read_values(texts: list[str]) -> set[str]:
    """Read what texts begin with: an option, two of them, or a denial."""
    matches = filter(None, map(_VALUE.match, texts))
    values = (match.group("none", "first", "second") for match in matches)
    return set(filter(None, itertools.chain.from_iterable(values)))


def _find_stated(text: str) -> list[str]:
    """Find what stands behind "Answer:" and the like, and ends that are
    an option alone.
    """
    marks = _STATED.findall(_MARKER.sub("", text))
    stated = [given for is_void, given in marks if not is_void]
    # A list that ends with its next item may be cut off there.
    steps = [int(last) - int(number) for _, number, last in _NEXT.findall(text)]
    if 1 in steps:
        return stated
    return stated + _END.findall(text)


def _find_choices(text: str) -> list[str]:
    """Find the options that clauses choose or praise, and that which leads the
    first line alone.
    """
    clauses = _VOID.sub("", _CLAUSE_END.sub("\n", _MARKER.sub("", text)))
    if picked := _PICKED.findall(clauses):
        return picked
    praised = _PRAISED.findall(clauses)
    is_first_void = clauses.startswith("\n")
    if is_first_void:
        return praised
    return praised + _LED.findall(text)
