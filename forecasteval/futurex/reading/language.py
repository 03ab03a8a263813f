"""Words of the languages in which answers are written, as data: a third language is
one more table.

Every pattern of words is built from these tables, by `words` and `table_of`. Words are
parted by commas; kinds that a language lacks are left out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Final

from forecasteval.common.patterns import WordTable, split_words

_ENGLISH: Final = {
    "yes": "yes, true",
    "no": "no, false",
    # Between values: a list, and two answers
    "and": "and, And, AND",
    "or": "or, OR",
    # Lead-ins: [openers] [claims] [owners] nouns [owners] copulas, or verbs
    "openers": "so, thus, therefore, hence, overall, in conclusion, in summary, to "
    "conclude,"
    " if I had to choose, if I had to pick, if I must choose, if forced to choose, in "
    "short,"
    " based on the above, based on this, given all this, but, here is, here's",
    "mine": "my, our",
    "claims": "I believe, I think, I expect, I believe that, I think that, I expect "
    "that,"
    " I predict that, I conclude that",
    "it is": "it is, it's, it will be, this is, that it is, that it's",
    "articles": "the",
    "owners": "my, our, final, revised, corrected, updated, amended, new, best, "
    "overall, predicted,"
    " most likely, single, correct, right, closest, selected, most, accurate,"
    " comprehensive, appropriate, suitable, plausible, probable, likely",
    "nouns": "answer, answers, prediction, predictions, forecast, forecasts, ans, "
    "estimate,"
    " point estimate, correction",
    "choices": "outcome, pick, picks, choice, choices, selection, selections, call, "
    "guess,"
    " verdict, decision, conclusion, result, order, ranking, resolution",
    "places": "rank, ranks, position, positions, place, places, spot, spots",
    "options": "option, options",
    "copulas": "is, are, will be, would be, should be, must be",
    "verbs": "I predict, I choose, I pick, I select, I am going with, I'm going with,"
    " I'll go with, I'd say, I'd pick, I'd choose, I would pick, I would choose, "
    "final:,"
    " I change my answer to, I am changing my answer to, I'm changing my answer to,"
    " question resolves, question most likely resolves, question will resolve",
    "leanings": "I'd go with, I would go with, I lean towards, I lean to",
    "theirs": "if, unless, according, they, other, others, expert, experts, some, "
    "many, people,"
    " analyst, analysts, market, bookmakers, critics, say, says, said, claim, think, "
    "believe,"
    " suggests, would, had, were",
    "conditions": "if, unless, in case, should it, should the, should they",
    "only": "only, just",
    "hedges": "probably, most likely, likely, definitely, surely, both, maybe, "
    "perhaps, possibly",
    # What answers nothing
    "refusals": "n/a, n.a, na, nan, none, null, nil, tbd, idk, unknown, unsure, "
    "unpredictable,"
    " undetermined, not available, not applicable, not sure, not known, insufficient "
    "data,"
    " insufficient information, not enough data, not enough information",
    "lacks": "no data, no idea, no answer, no prediction, no clear, no information, no "
    "comment,"
    " no problem, no doubt, no results, no result, no response, no further information,"
    " no one knows, no one can",
    "declines": "I'm sorry, I am sorry, I'm very sorry, I’m sorry, Sorry I, Sorry but "
    "I, sorry I,"
    " As an AI, I cannot, I can't, I can’t, I can not, I am unable to, I'm unable to,"
    " I am not able to, I'm not able to, I do not have access, I don't have access,"
    " I do not have enough, I don't have enough, Unable to",
    # What no forecast holds: it refuses, or speaks of the task
    "declining": "cannot, can't, can’t, could not, unable, impossible, insufficient, "
    "refuse,"
    " please, if you, would need to, no information, no data, no mention, do not have, "
    "don't have,"
    " don’t have",
    "errors": "connection error, timeout, timed out, rate limit, agent failed, max "
    "steps,"
    " max iterations, max turns, maximum number of, maximum steps, let me search, "
    "error:,"
    " [error], traceback (most recent, <html, <!doctype",
    # Doubt: what denies in front and behind, and what offers another guess
    "denials": "not, no, never, neither, nor, non, except, excluding, without, "
    "instead, rather,"
    " doubt, against, refuse, anything but, anyone but, all but",
    "exclusions": "but not, excluding, except, except for, without, rather than, "
    "instead of,"
    " but neither",
    "rejections": "none, nobody, exclude, excludes, excluded, rule out, rules out, "
    "ruled out,"
    " ruling out, impossible, unlikely, unlike, cannot, hardly, everyone but, "
    "everybody but,"
    " everything but, anybody but, anyone except, everyone except, doubts, doubted, "
    "doubtful,"
    " fail to, fails to, failed to, refuses, refused, least likely",
    "taken back": "lose, loses, wrong, false, incorrect, untrue, withdrawn, retracted,"
    " superseded, unlikely, out of the question, ruled out, excluded, impossible, not "
    "likely,"
    " not right, not correct, not true, not my answer, no longer, least likely,"
    " the least likely, the least likely option, not happen, not what i expect",
    "fillers": "but, though, it, this, that, also, well, then, else, even",
    "guesses": "or, could be, could also be, might be, may be, maybe, perhaps, "
    "possibly, either,"
    " alternatively, alternative, backup, if not, as likely",
    "degrees": "very, highly, extremely, quite, so, the, my",
    "can": "can be, can",
    "corrections": "actually, I mean, I meant, I meant to say, I should have said, "
    "wait, wait no,"
    " no wait, hmm, oops, my mistake, correction, corrected, revised, edit, edit 2, "
    "edit 3, update,"
    " update 2, erratum,"
    " on reflection, on second thought, on second thoughts, scratch that, scrap that, "
    "strike that,"
    " make that, make it",
    # Below an answer: what begins another one, what may stand between, and what
    # takes one back
    "second thoughts": "sorry, apologies, I apologize, I apologise, I stand corrected, "
    "instead,"
    " hold on, upon reflection, on further thought, on further reflection, on "
    "reconsideration,"
    " thinking again, reconsidering, having reconsidered, after reconsidering,"
    " after reconsideration, after further review, after further thought, after "
    "further reflection,"
    " after further consideration, typo, typo above, I misspoke, I misread, my error, "
    "my bad,"
    " changed my mind, I changed my mind, I've changed my mind, I have changed my mind,"
    " I change my mind, I was wrong, that was wrong, that is wrong, that's wrong,"
    " that was a mistake, that is a mistake, I made a mistake, I made a mistake above,"
    " I made an error, I made an error above, I made a typo, let me revise, let me "
    "correct,"
    " correction to the above, corrected version, amended, amendment, I now say, I now "
    "think,"
    " I now believe, I now predict, I now expect, I now choose, I now pick, I'd rather "
    "say,"
    " I would rather say, that should be, that should have been, it should have been,"
    " should have been, I am switching to, I'm switching to, I switch to, I'll switch "
    "to,"
    " switching to, changing to, use, please use",
    "replacements": "it should be, it should have been, should be, should read, to, "
    "no:, now",
    "selves": "I, I'll, I'm, I've, I'd like to, decided to, am, will, have to, must, "
    "need to,"
    " want to, would like to, hereby, let me, let us, let's, now, please, sorry",
    "withdraws": "disregard, ignore, withdraw, retract, scrap, scratch, strike, "
    "replace, change,"
    " changing, revise, revising, amend, amending, switch, switching, correct, "
    "correcting, update,"
    " updating, take, take back, have changed, have revised, have corrected, have "
    "updated",
    "revised": "revised, corrected, updated, amended, new",
    "but": "but, could, might, may, probably",
    # How a line begins that speaks of the one above, or of the lines below
    "above": "this, that, it, one",
    "announces": "let me, let us, let's, let’s, consider, considering",
    "not all": "all except, all but, everything except, all of the above, none of the "
    "above",
    "denied ends": "not, no",
    # Numbers
    "about": "about, around, approximately, approx., approx, roughly, nearly, almost, "
    "circa, ca.,"
    " between, from",
    "more": "over, above, more than, greater than, higher than, at least, no less than,"
    " not less than, no fewer than, exceeds, exceeding, in excess of, upwards of, a "
    "minimum of,"
    " north of, beyond, exceed, surpass, surpasses, above the, over the",
    "less": "under, below, less than, fewer than, lower than, at most, no more than, "
    "not more than,"
    " not above, up to, a maximum of, below the, under the",
    "between": "between, from",
    # In one clause with a number that is no forecast, and in front of what one
    # is compared to
    "past": "previous, previously, prior, prev, ago, closed at, currently, current "
    "price,"
    " current value, current level, yesterday, last close, last closing, last week,"
    " last month, last quarter, last year, last season, last session, last trading, "
    "last traded,"
    " last recorded, last known, last reported, last value, last price, latest "
    "reported,"
    " most recent",
    "compared": "up from, down from, compared to, compared with, versus, vs, than",
    "falls": "down, fell, fall, falls, fallen, decline, declines, declined, declining,"
    " contraction, contracted, lower, decrease, decreases, decreased, drop, drops, "
    "dropped,"
    " loss, outflow, outflows, net outflow, net outflows, net selling, net sales, net "
    "sold",
    "fall joints": "of, by",
    "minus": "minus, negative",
    "below zero": "below zero, degrees below zero",
    "ends": "or so",
    "more ends": "or more, or higher, or above, or greater, or over, or better, and "
    "above, and up,"
    " and over, at least",
    "less ends": "or less, or fewer, or lower, or below, or under, and below, at most",
    # Two sides, names
    "wins": "win, wins, will win, to win, will, to, victory, in regulation, in "
    "overtime, in ot, ot",
    "beats": "over, beat, beats, to beat, will beat, defeat, defeats, to defeat, will "
    "defeat,"
    " def, edge, edges, win over, wins over, win against, wins against, will win "
    "against,"
    " will win over",
    "parting": "over, v, vs, versus, n/a, they, others, replaces, replacing, aka, "
    "alias, after,"
    " hardly, then, by, than, opponent, opponents, likely, isnt, arent, wasnt, wont, "
    "dont,"
    " doesnt, didnt, cant, wouldnt, unlikely, wrong, someone, somebody, like, fade, "
    "avoid, beat,"
    " beats, defeat, defeats, ahead",
    # Sentences that are no list of names
    "foretold": "will, would, should, might, could, probably, perhaps, likely",
    "forecasts": "will, would, should, expect, expected, expecting, forecast, predict, "
    "predicted,"
    " prediction, estimate, answer, suggests, implies, I",
    "speakers": "I, we, it, they, he, she, you, this, that, there, based on, according "
    "to, given",
    "questions": "who, whose, what, when, where, why, which, how, is, are, am, do, "
    "does, did,"
    " can, could, will, would, should, have, has, may",
}
_CHINESE: Final = {
    "yes": "是, 是的, 会",
    "no": "否, 不, 不是, 不会",
    "and": "和, 与, 以及",
    "or": "或",
    "openers": "所以, 因此, 故, 综上所述, 综上, 总之, 显然",
    "mine": "我",
    "owners": "我的, 我, 最终, 最后, 正确, 修改后, 更正后, 修正后, 更新后, 订正, 修正, "
    "的",
    "nouns": "答, 答案, 预测, 预测结果, 预测值, 回答, 结果, 结论, 选择, 判断",
    "claims": "我认为, 我觉得",
    "copulas": "是, 为, 选, 应为, 应是, 应该是, 应该为, 应选, 应该选",
    "options": "选项, 的选项",
    "theirs": "如果, 若, 据, 有人",
    "verbs": "我选择, 我选, 我预测, 应选, 故选, 所以选, 所以选择, 因此选, 因此选择, "
    "本题选, 选择",
    "picks": "选, 改选",
    "conditions": "如果, 假如, 若",
    "only": "只有, 仅有",
    "corrections": "更正, 修正, 纠正, 等等, 等一下, 补充, 注意, 勘误, 编辑, 其实, "
    "实际上, 改为,"
    " 我改为, 改成, 我改成, 答案改为, 修改为",
    "second thoughts": "抱歉, 对不起, 不对, 写错了, 说错了, 答错了, 选错了, 应为, 应是,"
    " 应该是, 应该为, 我改变主意, 我改变主意了, 我改主意, 我改主意了, 重新考虑, "
    "重新考虑后,"
    " 我重新考虑后, 修订, 更改, 更改答案",
    "replacements": "应为, 应是, 应该是, 应该为",
    "notes": "补充, 注意",
    "selves": "我, 请, 现, 现在, 特此, 决定, 还是, 需要, 必须, 那么, 最终",
    "withdraws": "收回, 撤回, 忽略, 取消",
    "answer above": "将, 把, 我的, 以上, 上述, 上面, 上面的, 之前, 前面, 刚才, 最终, "
    "框内, 框中,"
    " 此, 该, 的, 已, 已经, 全部, 均, 都, 答案, 预测, 选择, 回答, 结果, 它",
    "gone": "作废, 收回, 撤回, 有误, 错了, 写错, 写错了, 答错了, 说错了, 选错了, "
    "搞错了, 不对,"
    " 错误, 是错的",
    "changed to": "改为, 更改为, 改成, 改选, 改投, 更正为, 修改为, 修正为, 调整为, "
    "变更为, 订正为",
    "revised": "修改后, 更正后, 修正后, 更新后, 订正, 修正",
    "hedges": "大概率是, 很可能是, 可能是",
    "refusals": "无正确答案, 不知道, 不确定, 不适用, 未知, 无, 暂无, 无数据, 暂无数据, "
    "无答案,"
    " 无法预测, 无法确定, 无法判断, 无法回答",
    "declines": "抱歉, 很抱歉, 对不起, 无法, 作为",
    "declining": "无法, 不足以, 没有提供",
    "denials": "不是, 不会是, 而非, 并非, 非, 不选, 没有, 除了, 排除",
    "exclusions": "不选, 不包括, 除了, 排除",
    "rejections": "不会, 不可能, 不能, 不太, 不认为, 不看好, 绝非, 别选, 难以, 怀疑",
    "taken back": "错, 错误, 不对, 作废, 已作废, 撤回",
    "denied ends": "不是, 不会",
    "fillers": "但, 不过",
    "guesses": "或, 或者, 可能是, 也可能, 也可能是, 还是, 备选",
    "but": "而是",
    "not all": "以上都",
    "about": "大约, 大概, 约为, 约, 約, 近, 介于, 从, 在",
    "more": "超过, 超, 超出, 突破, 逾, 大于等于, 大于, 高于, 多于, 至少, 不低于, "
    "不少于, 不小于",
    "less": "不到, 不足, 小于等于, 小于, 低于, 少于, 至多, 最多, 不超过, 不高于, "
    "不多于, 不大于",
    "between": "介于, 从, 在",
    "past": "目前, 当前, 现价, 前值, 前收, 昨日, 昨天, 昨收, 上周, 上月, 上季, 上年, "
    "上一,"
    " 上次, 去年, 此前, 之前",
    "compared": "高于, 低于, 较, 比",
    "falls": "下跌, 下降, 降幅, 减少, 亏损, 净卖出, 流出, 净流出, 净减持",
    "fall joints": "了, 为",
    "minus": "负, 零下",
    "ends": "左右, 上下, 之间",
    "more ends": "以上, 及以上, 或以上",
    "less ends": "以下, 及以下, 或以下, 以内",
    "wins": "获胜, 胜出, 取胜, 赢, 胜, 将, 会",
    "beats": "击败, 战胜, 将击败, 将战胜",
    "parting": "或者, 击败, 战胜, 取代, 替代, 和, 与, 以及",
    "forecasts": "将, 预计, 预测, 会",
    "speaking": "我认为, 我预测, 我觉得, 我预计, 我选择, 我会, 我们, 根据, 综合, 基于",
    "questions": "谁, 什么, 怎么, 为什么, 哪, 几",
}
_SPANISH: Final = {
    "yes": "sí, si, verdadero",
    "no": "no, falso",
    "and": "y",
    "or": "o",
    "openers": "así que, por lo tanto, por tanto, en conclusión",
    "claims": "creo que, pienso que",
    "articles": "la, el",
    "mine": "mi",
    "owners": "mi, final, definitiva, definitivo, correcta",
    "nouns": "respuesta, respuestas, predicción, prediccion, pronóstico, pronostico",
    "copulas": "es, son, será",
    "verbs": "predigo, elijo",
    "hedges": "probablemente",
    "corrections": "corrección, correccion, fe de erratas, mejor dicho",
    "second thoughts": "perdón, perdon, lo siento, me equivoqué, me equivoque",
    "replacements": "debería ser, deberia ser, debe ser, es",
    "guesses": "o, quizá, quizás, tal vez",
    "lacks": "no lo sé, no lo se, no sé, no se sabe, no hay datos, no tengo",
    "declines": "Lo siento, No puedo",
    "about": "aproximadamente, alrededor de, cerca de, unos, unas",
    "more": "más de, al menos",
    "less": "menos de, como máximo",
}
# French, German, Portuguese, Italian, Japanese, Korean, Russian; yes in Arabic
_OTHERS: Final = {
    "yes": "oui, ja, sim, sì, はい, 예, 네, да, نعم",
    "no": "non, nein, não, いいえ, 아니요, 아니오, нет, لا",
    "owners": "ma, meine, minha, mia, la mia, finale, endgültige, correta, 最終, 私の, "
    "최종,"
    " 나의, мой, итоговый, окончательный",
    "nouns": "réponse, prévision, prédiction, pronostic, Antwort, Prognose, "
    "Vorhersage, resposta,"
    " previsão, risposta, previsione, 正解, 答え, 回答, 予測, 予想, 정답, 답변, 답, "
    "예측, ответ,"
    " прогноз, jawaban, cevap",
    "copulas": "est, ist, lautet, é, è, は, は、, 은, 는",
    "corrections": "Korrektur, correção, correzione, rectification, 訂正, 修正, 정정, "
    "수정,"
    " исправление, поправка",
    "second thoughts": "désolé, pardon, Entschuldigung, ich korrigiere, ich korrigiere "
    "mich,"
    " desculpe, scusate, すみません, 죄송합니다,"
    " извините",
    "and": "et, und, и, と, 및",  # no e, which is a label, too
    "or": "ou, oder, или, または, 또는",
}
LANGUAGES: Final[tuple[Mapping[str, str], ...]] = (
    _ENGLISH,
    _CHINESE,
    _SPANISH,
    _OTHERS,
)


@cache
def words(*kinds: str) -> tuple[str, ...]:
    """List the words of some kinds in every language.

    >>> words("copulas")[:3]
    ('is', 'are', 'will be')
    """
    texts = [
        language[kind] for kind in kinds for language in LANGUAGES if kind in language
    ]
    return tuple(word for text in texts for word in split_words(text))


def pattern_of(kind: str) -> str:
    """Write the words of a kind as the alternatives of a pattern: Latin ones
    are whole words.
    """
    return "|".join(rf"\b{word}\b" if word.isascii() else word for word in words(kind))


def alternatives(kind: str) -> str:
    """Write the words of a kind as the alternatives of a pattern, the longest first."""
    return "|".join(sorted(map(re.escape, words(kind)), key=len, reverse=True))


def table_of(*kinds: str) -> WordTable:
    """Make the table of the words of some kinds."""
    return WordTable(*words(*kinds))


def question_words(prompt: str) -> str:
    """Return the prompt up to the paragraph with instructions for the answer."""
    return prompt.partition("IMPORTANT:")[0]


CJK_RANGES: Final = (("\u2e80", "\u9fff"), ("\uac00", "\ud7af"), ("\uf900", "\ufaff"),
                      ("\U00020000", "\U0003ffff"))  # fmt: skip


def is_cjk(char: str) -> bool:
    """Return whether a character is Chinese, Japanese or Korean.

    A pattern for it takes milliseconds to compile, as much as all names of a file.
    """
    return any(first <= char <= last for first, last in CJK_RANGES)


def count_cjk(text: str) -> int:
    """Count the Chinese, Japanese and Korean characters of a text."""
    return 0 if text.isascii() else sum(map(is_cjk, text))
