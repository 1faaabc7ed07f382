"""Words of a question that leave no doubt: how many, which end of an order, above or below, which function, which time.

Patterns over the question in lower case, English and Russian.
"""

from __future__ import annotations

import re

NUMBER = r"\d+(?:[.,]\d+)*"
NUMBER_WORDS = {
    **{"one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10},
    **{"once": 1, "twice": 2, "both": 2, "couple": 2, "dozen": 12, "twenty": 20},
    **{"один": 1, "два": 2, "три": 3, "четыре": 4, "пять": 5, "шесть": 6, "семь": 7, "восемь": 8, "девять": 9},
    **{"десять": 10, "пара": 2, "пару": 2, "дюжина": 12, "двадцать": 20},
}
TIMES = {"k": 1e3, "thousand": 1e3, "m": 1e6, "mln": 1e6, "million": 1e6, "тыс": 1e3, "тысяч": 1e3, "млн": 1e6}


def _any(*words: str) -> re.Pattern[str]:
    """One of these, each a pattern, as a word of its own."""
    return re.compile(rf"\b(?:{'|'.join(words)})\b")


TOP_N = re.compile(
    r"\b(?:top|топ)[ -]?(?P<a>\d{1,4})\b(?!\s*(?:%|percent|проц))"
    r"|\b(?P<b>\d{1,4}) (?:best|largest|biggest|highest|lowest|smallest|cheapest|worst"
    r"|лучш\w+|худш\w+|крупнейш\w+)\b"
)
HIGH = _any(
    *("highest", "largest", "biggest", "greatest", r"(?<!at )most(?! (?:recent|of))"),
    *(r"наибольш\w+", r"наивысш\w+", r"крупнейш\w+", "больше всего", r"сам\w+ (?:больш|высок|крупн|дорог)\w*"),
)
LOW = _any(
    *("lowest", "smallest", "fewest", "cheapest", "(?<!at )least"),
    *(r"наименьш\w+", "меньше всего", r"сам\w+ (?:маленьк|мал|низк|деш)\w*"),
)
UNCLEAR_END = _any(  # which end of an order they mean depends on what is ordered
    *("earliest", "oldest", "youngest", "newest", "latest", "first", "last", "fastest", "slowest", "quickest"),
    *("soonest", "best", "worst", "shortest", "longest", "efficient", "effective", "accurate", "reliable", "late"),
    *("early", "bottom", "reverse", "ascending", "descending", r"перв\w+", r"последн\w+", r"лучш\w+", r"худш\w+"),
    *(r"быстр\w+", r"медленн\w+", r"ранн\w+", r"поздн\w+", r"старш\w+", r"младш\w+"),
    *(r"drops?", r"dips?", r"falls?", r"declines?", r"decreases?", r"reductions?", "loss", "losses", r"deficits?"),
    *(r"падени\w+", r"снижени\w+", r"убыт\w+", r"спад\w*", r"потер\w+"),
)
RANKED = _any(
    *(r"\w{3,}est", "most", "least", r"top\w*", "bottom", r"best\w*", "worst", "first", "last", "main", "leading"),
    *(r"max\w*", r"min\w*", "few", "several", "some", "couple", "handful", r"rank\w*", "peak", "record", "more"),
    *("less", "next", "same", r"сам\w+", r"наиб\w+", r"наим\w+", r"топ\w*", r"лучш\w+", r"худш\w+", r"перв\w+"),
    *(r"последн\w+", r"макс\w*", r"мин\w*", "больше", "меньше", "чаще", "реже", r"крупнейш\w+", r"лидер\w*"),
    *(r"рекорд\w*", r"пик\w*", "несколько"),
)
SINGULAR = _any(
    *("which", "what", "whats", "who", "whose", "whom", "whos", "when", "where", "a", "an", "one", "single"),
    *(r"как\w+", "кто", "кому", "кого", "где", "когда", "чей", "один", r"одн\w+"),
)
TIME_WORDS = _any(
    *(r"\w*\d.*", "today", "yesterday", "tomorrow", "tonight", "now", r"current\w*", r"recent\w*", "latest", "last"),
    *("past", "previous", "prior", "this", "next", "ago", "since", "before", "after", "until", "till", "during"),
    *("ytd", "mtd", "qtd", "wtd", r"fy\w*", r"date\w*", "ever", "so far", r"month\w*", r"week\w*", r"day\w*"),
    *("daily", r"hour\w*", r"quarter\w*", r"year\w*", "yoy", "mom", "wow", r"annual\w*", r"decade\w*"),
    *(r"season\w*", "spring", "summer", "autumn", "fall", "winter", r"holiday\w*", "christmas", r"jan\w*", r"feb\w*"),
    *("mar", "march", r"apr\w*", "may", r"jun\w*", r"jul\w*", r"aug\w*", r"sep\w*", r"oct\w*", r"nov\w*", r"dec\w*"),
    *(r"mon\w*", r"tue\w*", r"wed\w*", r"thu\w*", r"fri\w*", r"sat\w*", r"sun\w*", r"old\w*", r"new\w*"),
    *(r"young\w*", r"age\w*", r"late\w*", "early", "overdue", "expired?", "due", "upcoming", "future", "still"),
    *("yet", "open", "active", r"period\w*", r"time\w*", "long", r"quick\w*", "morning", "evening", "night", "noon"),
    *("am", "pm", "сегодня", "вчера", "завтра", "сейчас", r"текущ\w*", r"послед\w*", r"прошл\w*", r"предыдущ\w*"),
    *(r"эт\w+", r"следующ\w*", "назад", "ранее", r"начал\w*", r"конц\w*", "до", "после", "перед", r"дат\w*"),
    *("день", r"дн\w+", r"недел\w*", r"месяц\w*", r"квартал\w*", r"год\w*", r"лет\w*", r"час\w*", r"сезон\w*"),
    *(r"весн\w*", r"осен\w*", r"зим\w*", r"январ\w*", r"феврал\w*", r"март\w*", r"апрел\w*", r"ма[йяе]\w*"),
    *(r"июн\w*", r"июл\w*", r"август\w*", r"сентябр\w*", r"октябр\w*", r"ноябр\w*", r"декабр\w*"),
    *(r"понедел\w*", r"вторн\w*", r"сред[уы]\w*", r"четверг\w*", r"пятниц\w*", r"суббот\w*", r"воскрес\w*"),
    *(r"выходн\w*", r"будн\w*", r"нов\w+", r"стар\w+", r"просроч\w*", r"период\w*", r"врем\w*", r"недавн\w*"),
    *("еще", r"утр\w*", r"вечер\w*", r"ноч\w*", "давно", r"актуальн\w*"),
)
_OVER = (
    *("more than", "over", "above", "greater than", "higher than", "exceed(?:s|ing)?", "at least", "no less than"),
    *("больше", "более", "свыше", "выше", "не менее", "не меньше"),
)
_UNDER = (
    *("less than", "under", "below", "fewer than", "lower than", "at most", "no more than", "up to"),
    *("меньше", "менее", "ниже", "до", "не более", "не больше"),
)
COMPARED = re.compile(
    rf"(?P<not>\b(?:not|no|не)\s+)?(?:(?P<over>\b(?:{'|'.join(_OVER)})|>=?)|(?P<under>\b(?:{'|'.join(_UNDER)})|<=?))"
    rf"\s+(?P<number>{NUMBER})\b(?!\s*(?:-|–|to\b))"
)
MEAN = _any("average", "avg", "mean", r"средн\w+", "в среднем")
MEDIAN = _any("median", r"медиан\w*")
OTHER_AVERAGE = re.compile(r"%|percent|typical|usual|проц|обычн")
HOW_MANY = re.compile(
    r"^(?:and |so |hey |hi |ok )*(?:how many|number of|count of|сколько)\b"
    r"(?! (?:days|hours|minutes|weeks|months|years|times|дней|часов|лет))"
)
TOTAL = re.compile(r"^(?:what(?: is|'s| was)? )?(?:the |our |my )?(?:total|sum of|общая сумма|суммарн\w+)\b")
QUOTED = re.compile(r"[\"“«]([^\"”»]{2,80})[\"”»]")
