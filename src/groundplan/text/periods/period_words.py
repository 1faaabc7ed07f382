"""The words of period phrases, English and Russian, lower case and with е for ё."""

from __future__ import annotations

from typing import Literal

from groundplan.text.periods.calendar import Unit

Edge = Literal["since", "after", "before", "through", "from"]
Turn = Literal["this", "last", "next", "before last", "past", "coming"]


def _words(text: str) -> list[str]:
    return text.split()


def _forms(stems: str, endings: list[str]) -> list[str]:
    return [stem + ending for stem in stems.split() for ending in endings]


_ADJECTIVE = _words(
    "ый ая ое ого ой ому ую ым ом ые ых ыми ий яя ее его ей ему юю им ем ие их ими ья ье ьего ьей ьему ью ьим ьем ьи"
)
_SOFT, _HARD, _MAY = _words("ь я ю е ем"), ["", *_words("а у е ом")], _words("й я ю е ем")
_MASCULINE = ["", *_words("а е у ем ом ы ев ов ах")]
_RUSSIAN = (
    *(_forms(stem, _SOFT) for stem in ("январ", "феврал")),
    _forms("март", _HARD),
    _forms("апрел", _SOFT),
    _forms("ма", _MAY),
    *(_forms(stem, _SOFT) for stem in ("июн", "июл")),
    _forms("август", _HARD),
    *(_forms(stem, _SOFT) for stem in ("сентябр", "октябр", "ноябр", "декабр")),
)
_ENGLISH = _words("january february march april may june july august september october november december")
_SHORT: dict[str, int] = {
    **{name[:3]: number for number, name in enumerate(_ENGLISH, 1) if name != "may"},
    **{"sept": 9, "янв": 1, "фев": 2, "февр": 2, "мар": 3, "апр": 4, "июн": 6, "июл": 7, "авг": 8},
    **{"сен": 9, "сент": 9, "окт": 10, "ноя": 11, "нояб": 11, "дек": 12},
}
MONTHS: dict[str, int] = {
    **{name: number for number, name in enumerate(_ENGLISH, 1)},
    **{form: number for number, forms in enumerate(_RUSSIAN, 1) for form in forms},
    **_SHORT,
}
WEAK_MONTHS = {"may", "jan", "mar", "мар"}  # a verb, a name, a cut word: alone they say nothing of time

LOOSE_HALVES = set(_words("half halves половина половины половине половину"))  # of a year only where one is named
UNITS: dict[str, Unit] = {
    **dict.fromkeys(_words("day days день дня дней дни дню днем дне днях сутки суток"), "day"),
    **dict.fromkeys(["week", "weeks", "wk", "wks", *_forms("недел", _words("я и е ю ь ей ям ях"))], "week"),
    **dict.fromkeys(["month", "months", "mth", "mths", *_forms("месяц", _MASCULINE)], "month"),
    **dict.fromkeys(["quarter", "quarters", "qtr", "кв", *_forms("квартал", _MASCULINE)], "quarter"),
    **dict.fromkeys(["полгода", *LOOSE_HALVES, *_forms("полугоди", _words("е я и ю ем й ях"))], "half"),
    **dict.fromkeys(_words("year years yr yrs год года году годом годе годы лет"), "year"),
}
PLAIN_NUMBERED = {  # "3 квартал" is an ordinal by itself, "3 квартала" only beside a year, "3 quarters" is a count
    **dict.fromkeys(_words("квартал квартале кв кварталы кварталах полугодие полугодии"), True),
    **dict.fromkeys(_words("quarter qtr квартала кварталу полугодия"), False),
}
FISCAL = {"fy", "fiscal", *_forms("финансов", _ADJECTIVE)}
YEAR_BEFORE = {"year", "years", "год", "года", "годы", *FISCAL}
YEAR_AFTER = set(_words("год года году годом годе годы годов годах годам г гг year"))
DOTTED = {"г", "гг", "кв", "qtr", *_SHORT}

TURNS: dict[str, Turn] = {
    **dict.fromkeys(_words("this current этот эта это этого этой этому эту этим этом сего"), "this"),
    **dict.fromkeys(_forms("текущ нынешн", _ADJECTIVE), "this"),
    **dict.fromkeys(["last", "previous", "prior", *_forms("прошл прошедш предыдущ минувш", _ADJECTIVE)], "last"),
    **dict.fromkeys(_forms("позапрошл", _ADJECTIVE), "before last"),
    **dict.fromkeys(["past", "trailing", *_forms("последн", _ADJECTIVE)], "past"),
    **dict.fromkeys(["next", *_forms("следующ будущ предстоящ", _ADJECTIVE)], "next"),
    **dict.fromkeys(["coming", "upcoming", *_forms("ближайш", _ADJECTIVE)], "coming"),
}
TURN_OFFSETS: dict[Turn, int] = {"this": 0, "last": -1, "next": 1, "before last": -2, "past": -1, "coming": 1}
WHOLE = {"full", "complete", "calendar", "whole", *_forms("полн календарн", _ADJECTIVE)}

DAY_OFFSETS: dict[tuple[str, ...], int] = {
    ("today",): 0,
    ("yesterday",): -1,
    ("tomorrow",): 1,
    ("day", "before", "yesterday"): -2,
    ("day", "after", "tomorrow"): 2,
    ("сегодня",): 0,
    ("вчера",): -1,
    ("позавчера",): -2,
    ("завтра",): 1,
    ("послезавтра",): 2,
}
NOW = (("now",), ("present",), ("date",), ("настоящее", "время"), ("сей", "день"), ("сейчас",), ("сегодняшний", "день"))
TO_DATE: dict[str, Unit] = {"ytd": "year", "qtd": "quarter", "mtd": "month", "wtd": "week"}

COUNTS: dict[str, int] = {
    **{word: n for n, word in enumerate(_words("one two three four five six seven eight nine ten eleven twelve"), 1)},
    **{"fifteen": 15, "twenty": 20, "thirty": 30, "sixty": 60, "ninety": 90, "hundred": 100},
    **dict.fromkeys(_words("один одну одного одной"), 1),
    **{"два": 2, "две": 2, "двух": 2, "три": 3, "трех": 3, "четыре": 4, "четырех": 4},
    **{"пять": 5, "пяти": 5, "шесть": 6, "шести": 6, "семь": 7, "семи": 7, "восемь": 8, "восьми": 8},
    **{"девять": 9, "девяти": 9, "десять": 10, "десяти": 10, "двенадцать": 12, "двенадцати": 12},
    **{"пятнадцать": 15, "двадцать": 20, "тридцать": 30, "шестьдесят": 60, "девяносто": 90, "сто": 100},
}
ORDINALS: dict[str, int] = {
    **{"first": 1, "second": 2, "third": 3, "fourth": 4, "i": 1, "ii": 2, "iii": 3, "iv": 4},
    **dict.fromkeys(_forms("перв", _ADJECTIVE), 1),
    **dict.fromkeys(_forms("втор", _ADJECTIVE), 2),
    **dict.fromkeys(_forms("трет", _ADJECTIVE), 3),
    **dict.fromkeys(_forms("четверт", _ADJECTIVE), 4),
}
LAST = {"last", "final", *_forms("последн", _ADJECTIVE)}

EDGES: dict[tuple[str, ...], Edge] = {
    **dict.fromkeys(
        [("since",), ("starting",), ("starting", "from"), ("starting", "in"), ("on", "or", "after")], "since"
    ),
    **dict.fromkeys([("no", "earlier", "than"), ("not", "earlier", "than"), ("not", "before")], "since"),
    **dict.fromkeys([("не", "раньше"), ("не", "ранее"), ("с",), ("со",), ("начиная", "с"), ("начиная", "со")], "since"),
    **dict.fromkeys([("after",), ("later", "than"), ("после",), ("позже",), ("позднее",)], "after"),
    **dict.fromkeys([("before",), ("prior", "to"), ("earlier", "than"), ("until",), ("till",), ("up", "to")], "before"),
    **dict.fromkeys([("до",), ("раньше",), ("ранее",)], "before"),
    **dict.fromkeys([("through",), ("thru",), ("up", "to", "and", "including"), ("on", "or", "before")], "through"),
    **dict.fromkeys([("no", "later", "than"), ("not", "later", "than"), ("by", "the", "end", "of")], "through"),
    **dict.fromkeys([("не", "позже"), ("не", "позднее"), ("по",)], "through"),
    ("from",): "from",
}
STARTS = {"start", "beginning", "начала"}
ENDS = {"end", "конца", "конец"}
ONWARD = {"on", "onward", "onwards", "forward"}
INCLUSIVE = {"включительно", "inclusive"}
INSTRUMENTAL = ("ом", "ем", "ей")  # "с прошлым годом" is with; "с прошлого года" is since
DATIVE = (
    "году",
    "месяцу",
    "кварталу",
    "полугодию",
    "ту",
    "лю",
    "рю",
    "ню",
    "маю",
)  # "по марту" is of; "по март" is up to

BETWEEN = {"between": ("and", "to", "-"), "между": ("и", "-")}
FROM = {"from", "с", "со", "от", "starting"}
TO = ("to", "-", "..", "through", "thru", "till", "until", "по", "до")
AND = {"and", "or", "&", ",", "и", "или"}
JOINERS = AND.union(TO)

BLURS = set(  # a part of a period whose bounds nobody agreed on
    _words(
        "early late mid middle end beginning start summer winter autumn fall spring начало начале началу конец конце "
        "концу конца середина середине середину середины лето летом лета зима зимой зимы весна весной осень осенью"
    )
)
AGAIN = {"in", "on", "for", "в", "во", "за", "на"}  # said once more in a list: in 2023 and in 2024
PREPOSITIONS = set(
    _words(
        "in for during of since from to until till through before after between and or "
        "в во за на к с со по до после между и или"
    )
)
MAGNITUDES = set(  # a number after one of these is an amount, a rank or a name
    _words(
        "over than top bottom least most above below under exceeding exceeds exceed limit first last by around about "
        "approximately roughly between equals equal id number code order больше более менее меньше свыше топ выше ниже "
        "превышает превышают около примерно порядка минимум максимум лимит первые первых последние последних между "
        "номер код = < > ≥ ≤ # № $ € £ ₽ + ~"
    )
)
COUNTED = set(  # a number before one of these is an amount
    _words(
        "unit units item items row rows record records piece pieces pcs people persons times points percent hours hour "
        "minutes days weeks months km kg miles meters tons usd eur rub dollars dollar euros euro rubles roubles bucks "
        "pounds thousand million k шт штук штуки единиц единицы строк строки записей записи человек раз раза рублей "
        "рубля руб р долларов доллара евро тенге процентов процента баллов кг км метров тонн часов часа минут дней "
        "недель месяцев лет тысяч тыс млн % $ € £ ₽"
    )
)
STARTERS = {  # the only words that a phrase can begin with
    *MONTHS,
    *UNITS,
    *TURNS,
    *COUNTS,
    *ORDINALS,
    *LAST,
    *YEAR_BEFORE,
    *TO_DATE,
    *BETWEEN,
    *FROM,
    *(words[0] for words in DAY_OFFSETS),
    *(words[0] for words in EDGES),
    *_words("q h a an"),
}
