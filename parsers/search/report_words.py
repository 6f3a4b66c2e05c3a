"""Words of bug reports and of answers to them, in fourteen languages.

A report says that its writer runs a server, or has words that only a report has; it asks whoever reads it. An answer
speaks to somebody, says what to do, why something happens, or what was done about it. (As public reports of vLLM,
SGLang, llama.cpp, TensorRT-LLM, LM Studio and Ollama have them.)
"""

from __future__ import annotations

import re
from typing import NamedTuple


class _Language(NamedTuple):
    """The words of one language, as patterns.

    `fault`: what goes wrong. `runs`: that the writer runs a server, or has it run. `idiom`: what only a report says.
    `advice`: that somebody is spoken to, or told what to do. `explains`: why it is so, or what came of it.
    """

    fault: str
    runs: str
    idiom: str
    advice: str
    explains: str


_ENGLISH = _Language(
    r"\b(?:bugs?|issues?|regress\w+|reproduc\w+|expected|instead of|broken|breaks?|fail(?:s|ed|ing|ure)?|wrong\w*"
    r"|missing|los(?:es?|t|ing)|invalid|truncat\w+|cut off|crash\w*|empty|errors?|stuck|ignored|duplicat\w+"
    r"|leak\w*|drops?|dropped|never|(?:does|is|are|do|was|did|were)(?:n't| not)"
    r"|not (?:parsed|detected|called|returned|working)|twice|doubled|garbled|hang\w*|None|null|no tool[_ ]calls?"
    r"|(?:ends?|shows?|lands?|comes?) (?:up |back )?(?:in|as)|only (?:the )?(?:first|last)"
    r"|in (?:the )?(?:content|reasoning(?:_content)?)|eats|swallows|skips|mangles|corrupts|freezes"
    r"|\w*(?:Error|Exception)|same (?:here|issue|problem)|as (?:plain |raw )?(?:text|xml|content)|without any"
    r"|stops?)\b|(?:->|=>|returns?|HTTP) ?[45]\d\d\b|\"\"|''",
    r"\b(?:I|we|i)(?:'m|'ve|'re| am| are| have)? (?:been |also |currently |just |got )?(?:us(?:e|ed|ing)"
    r"|run(?:ning)?|play(?:ed|ing)|test(?:ed|ing)|receiv(?:e|ed|ing)|serv(?:e|ed|ing)|host(?:ed|ing)?|deploy(?:ed|ing)?|launch(?:ed|ing)?|seeing|getting|upgraded"
    r"|updated to|start(?:ed)? (?:the )?(?:server|vLLM|SGLang|ollama))\b|\bi've got\b|\bwe(?: only)? get\b"
    r"|\b(?:our|my) (?:\w+ )?(?:deployment|server|set-?up|integration|agent|client|cluster|proxy|team|users?)\b"
    r"|\bon (?:my|our) (?:side|end|machine)\b|^(?:Since|After) (?:upgrading|updating|moving"
    r"|the (?:update|upgrade))",
    r"\bregression (?:since|from|in)\b|\bsteps to reproduce|\bto reproduce\b|\b(?:minimal )?repro\b"
    r"|\breproducible\b|\b(?:expected|actual)(?: behaviou?r| results?| output)?\s?:|\bis this (?:a (?:known )?bug"
    r"|expected|intended|known)|\b(?:non|no|without)[- ]stream(?:ing|ed)? (?:is |it )?(?:fine|works|ok|mode works)"
    r"|\b(?:works|fine|ok) (?:fine )?(?:with(?:out)?|in non)[- ]stream|\bany ideas?\b|\banyone (?:else|know"
    r"|seen)\b[^.!\n]{0,80}\?|^ {0,4}\[?(?:bug|issue)\]?\s?: |\bbroken again\b|\bturning (?:streaming|it) off\b"
    r"|\bhappy to provide|\bwhat (?:i|we) (?:get|expect)|[;.] ?expected (?:a|an|the|it)\b|^\W{0,3}same (?:here"
    r"|issue|problem)\b",
    r"\byou(?:'re|'ll|'ve|rs?)?\b|\bknown (?:bug|issue|limitation|problem)|(?:^|[.!?:]\s+|\n)\W{0,4}(?:Upgrade"
    r"|Update|Use|Set|Check|Try|Add|Make sure|Disable|Enable|Pass|Install|Remove|Look at|Restart|Change|Give)\b"
    r"|\b(?:shall|should|want me to|may) I\b|\blet me\b|\bI'll\b|\bplease (?:set|use|upgrade|check|try)"
    r"|\bwe should\b|\bis normal\b|\bnot an error\b|^(?:Subject: |Best regards|Kind regards)",
    r"\bbecause\b|\bcaused by\b|\b(?:is|was|were|been) fixed\b|\bfix(?:es)? (?:it|this|that)\b|\bthe fix\b"
    r"|\bthe reason\b|\bthe (?:issue|report) (?:says|reports|describes)|\bpasses\b|\bno longer\b|\b(?:the user"
    r"|people|users|reporters?|they)\b|\b(?:I|we)(?:'ve)? (?:fixed|added|enabled|changed|removed|implemented"
    r"|verified|confirmed|wrote|ran)\b",
)  # fmt: skip
_GERMAN = _Language(
    r"\b(?:leer|kein\w* .{1,40} mehr|als (?:reiner )?text|fehl\w+|falsch\w*|statt|kaputt|abgeschnitten|verlor\w*"
    r"|gehen .{0,60} verloren|doppelt|landet|nur als)\b",
    r"\b(?:ich|wir) (?:habe|haben|betreiben?|nutzen?|verwenden?|benutzen?|starten?|hosten?|setzen)\b|\b(?:bei"
    r"|für) (?:mir|uns)\b|\bunser\w* |\bseit dem (?:Update|Upgrade|Umstieg|Wechsel)|\bkrieg(?:en|e) (?:wir|ich)\b",
    r"schritte zum nachstellen|(?:ist|wäre) das ein (?:bug|fehler)|\bfehlerbeschreibung|\breproduzierbar"
    r"|\bohne stream\w* (?:ok|ist|geht|funktioniert|kommt|läuft|klappt)|\berwartet(?: hätte| wird|:)"
    r"|\bjemand (?:eine|ne) idee|\bkann das jemand|\bhat (?:das )?jemand",
    r"(?-i:\bSie\b|\bIhr(?:e[nrm]?)?\b|\b(?:Setze|Nutze|Verwende|Starte|Prüfe|Aktualisiere)\b)|\bdu kannst|\bdein"
    r"|\bsoll ich\b|\bbekannte\w* (?:fehler|problem)",
    r"\bweil\b|\bliegt (?:daran|an)|\bbehoben\b|\bdas passiert\b",
)  # fmt: skip
_FRENCH = _Language(
    r"\b(?:vides?|erreurs?|au lieu|manqu\w+|perd\w*|tronqu\w+|perdus?|doublé\w*|comme du texte"
    r"|aucun (?:appel|problème))\b",
    r"j'utilise|nous utilisons|je lance|chez (?:nous|moi)|\bnotre |\bdepuis (?:la (?:mise à jour|version)"
    r"|que nous)|\bj'ai (?:lancé|déployé)",
    r"est-ce un bug|\battendu\s?:|\brésultat (?:attendu|obtenu)|\bétapes\s?:|\bsans (?:le )?streaming,? (?:aucun"
    r"|ça|tout)|\bquelqu'un (?:a|d'autre|sait)|\bce que reçoit|\bsortie du modèle\s?:|\bune idée\b",
    r"\bvous\b|\bvotre\b|\bmettez\b|\bajoutez\b|\butilisez\b|\bvérifiez\b|\bdois-je\b|\bproblème connu",
    r"\bparce qu|\bvient d[ue]\b|\bcorrigé|\ben raison\b",
)  # fmt: skip
_SPANISH = _Language(
    r"\b(?:vací\w*|falla\w*|en lugar|fallo|error\w*|como texto|perd\w+|falta\w*)\b",
    r"estoy usando|estamos usando|\busamos\b|he desplegado|\bnuestr[oa]s? |\bdesde (?:ayer|la actualización)",
    r"¿es un bug|\ba alguien (?:más )?le pasa|\besperado\s?:|\bpasos para reproducir|\bsin streaming (?:funciona"
    r"|va)",
    r"\busted\b|\bpuedes?\b|\bdebes?\b|\bactualice\b|\bcompruebe\b|\bproblema conocido",
    r"\bporque\b|\bse debe a\b|\bcorregid",
)  # fmt: skip
_PORTUGUESE = _Language(
    r"\b(?:vazi\w+|erro|falh\w+|em vez|perd\w+|falta\w*)\b",
    r"estou usando|estamos usando|\bnoss[oa]s? |\bdesde (?:ontem|a atualização)",
    r"é um bug|\balguém (?:mais|sabe)|\bsem streaming (?:funciona|está)|\bpassos para reproduzir",
    r"\bvocê\b|\bpode\b|\batualize\b|\bproblema conhecido",
    r"\bporque\b|\bcorrigid",
)  # fmt: skip
_ITALIAN = _Language(
    r"\b(?:vuot\w+|errore|invece|manca\w*|pers[oaie])\b",
    r"sto usando|stiamo usando|\busiamo\b|\bnostr[oaie] |\bda quando\b",
    r"è un bug|\bqualcun(?:o|') (?:altro|sa)|\bsenza streaming (?:funziona|va)|\batteso\s?:",
    r"\bpuoi\b|\bpuò\b|\baggiorna\b|\bproblema noto",
    r"\bperché\b|\brisolto\b",
)  # fmt: skip
_DUTCH = _Language(
    r"\b(?:leeg|lege|fout\w*|ontbre\w+|mist|in plaats van|kapot|verdwijn\w+)\b",
    r"\b(?:ik|wij|we) (?:gebruik\w*|draai\w*|krijgen|krijg)\b|\bkrijgen (?:wij|we)\b|\bbij (?:ons|mij)\b|\bonze\b",
    r"\bis dit een bug|\bzonder stream\w* werkt|\biemand (?:een idee|anders)|\bverwacht\w*\s?:",
    r"\bu\b|\bje (?:kunt|kan|moet)|\buw\b",
    r"\bomdat\b|\bopgelost\b",
)  # fmt: skip
_SWEDISH = _Language(
    r"\b(?:tom\w*|fel\w*|saknas|istället för|som (?:vanlig )?text|trasig\w*)\b",
    r"\b(?:jag|vi) (?:kör|använder|får)\b|\bhos oss\b|\b(?:efter|sedan) (?:uppgradering\w*|uppdatering\w*)",
    r"\bär detta en\b|\butan ström\w* fungerar|\bnågon (?:annan|som)|\bförvänta\w*\s?:",
    r"\bdu (?:kan|bör|måste)\b|\bdin\b",
    r"\beftersom\b|\båtgärda",
)  # fmt: skip
_POLISH = _Language(
    r"\b(?:pust\w+|błąd|błęd\w+|brak\w*|zamiast|trafia|ucięt\w+)\b",
    r"\b(?:używam\w*|korzystam\w*|uruchomi\w+) |\bu (?:mnie|nas)\b|\bpo aktualizacji\b",
    r"\bczy ktoś\b|\bczy to (?:błąd|bug)|\bbez streamingu działa|\boczekiwan\w+\s?:",
    r"\bmożesz\b|\bpowinieneś\b|\bproszę\b",
    r"\bponieważ\b|\bnaprawion",
)  # fmt: skip
_TURKISH = _Language(
    r"\b(?:boş|hata\w*|eksik|yerine|bozuk|kayb\w+)\b",
    r"\bkullanıyor(?:um|uz)\b|\bçalıştırıyor|\bgüncelle\w+ sonra\b|\bbizde\b",  # noqa: RUF001
    r"\bbu bir (?:bug|hata)|\bolmadan (?:sorun yok|çalışıyor)|\bbaşka (?:yaşayan|gören)|\bbeklenen\s?:",  # noqa: RUF001
    r"\bsiz(?:in)?\b|\bdeneyin\b|\bgüncelleyin\b",
    r"\bçünkü\b|\bdüzeltildi\b",
)  # fmt: skip
_CHINESE = _Language(
    r"失败|为空|是空|缺少|报错|错误|丢失|异常|不正确|没有返回|无法|截断|重复|不生效|直接出现|问题",
    r"我们?(?:正在|在|目前)?(?:用|使用|部署|启动|跑)|升级到?.{0,30}(?:以后|之后|后)|我(?:这边|们这边)",
    r"复现步骤|(?:问题描述|部署方式)[:：】]|预期行为|期望|请问这?是|是 ?bug|有人遇到|有没有人|[【\[](?:问题|环境"  # noqa: RUF001
    r"|现象)",
    r"您|你(?:可以|的|需要|应)|建议|请(?:升级|检查|确认|使用)|已知(?:问题|bug)",
    r"因为|是由于|原因是|一般是|已.{0,16}修复|该(?:问题|报告|issue)",
)  # fmt: skip
_JAPANESE = _Language(
    r"バグ|切れ|エラー|失敗|空に|されず|されません|できません|届きません|欠け|出てしま|なりません|おかしい"
    r"|に出力され|そのまま",
    r"(?:して|使って|動かして|運用して)(?:い|おり)ます?(?:が|。)|使ってるんだけど|(?:^|\n)\W{0,2}環境\W"
    r"|アップデート(?:後|してから)",
    r"でしょうか|再現手順|(?:^|\n)\W{0,2}(?:現象|症状)\W|期待(?:する|される)|(?:方|人)(?:は)?い(?:ます"
    r"|らっしゃいます)か|わかる方|よろしくお願い",
    r"してください|ましょう|既知の|(?:更新|変更|確認)(?:する|して)(?:か|と|く)|すると解決",
    r"ためです|原因は|修正され",
)  # fmt: skip
_KOREAN = _Language(
    r"비어|비는|오류|에러|실패|버그|누락|빠집|잘립",
    r"사용(?:하고|중)|운영 ?중|저희",
    r"재현|저만|분 계신|인가요|기대 ?결과",
    r"하세요|십시오|주세요|알려진",
    r"때문입니다|수정되",
)  # fmt: skip
_RUSSIAN = _Language(
    r"пуст|ошибк|вместо|не работа|теря|перестал|пропада|попада|падает",
    r"(?:я|мы) (?:использу|запуска|разверну)|\bу (?:меня|нас|нашего) |после обновления|\bнаш",  # noqa: RUF001
    r"шаги воспроизв|сталкивал|кто-нибудь|ожида(?:ем|л)|без стрим\w+ (?:работает|всё)|это баг",  # noqa: RUF001
    r"\bвы\b|\bваш|можете|обновите|отключите|проверьте|известн\w+ (?:ошибк|проблем)",  # noqa: RUF001
    r"потому что|исправлен",
)  # fmt: skip
_LANGUAGES = (
    _ENGLISH, _GERMAN, _FRENCH, _SPANISH, _PORTUGUESE, _ITALIAN, _DUTCH, _SWEDISH, _POLISH,
    _TURKISH, _CHINESE, _JAPANESE, _KOREAN, _RUSSIAN,
)  # fmt: skip
FAULT, RUNS, IDIOM, ADVICE, EXPLAINS = [
    re.compile("|".join(words), re.IGNORECASE | re.MULTILINE) for words in zip(*_LANGUAGES, strict=True)
]
# What is asked of whoever reads, politely: it speaks to somebody, and is no advice.
POLITE = re.compile(
    r"\b(?:can|could|would|do|did|will|have|thank) (?:any of )?you\b|\bif you (?:need|want|have)\b"
    r"|\bfor your (?:reference|information)\b|\blet me know\b|\byou guys\b"
    r"|\b(?:as |that )?you (?:can|may|might|will) (?:see|notice|find)\b|\bas you (?:see|know)\b"
    r"|\b(?:könn(?:en|ten)|wissen|haben) Sie\b|\bpouvez-vous\b|\bmerci\b[^.\n]{0,40}\bvo(?:us|tre)\b(?: aide)?"
    r"|\bpodr[ií]an?\b",
    re.IGNORECASE,
)
# Offers of help end in a question as well.
OFFERS = re.compile(
    r"\b(?:shall|should|can|may|want me|would it help) (?:I|to)\b|\bsoll ich\b|\bdois-je\b|\bveux-tu\b|\bquieres\b"
    r"|需要我|要我"
    r"|ましょうか|할까요|\bмне\b",  # noqa: RUF001
    re.IGNORECASE,
)
# The parts of a report, as headings and labels call them, and whether only a report has such a part.
PARTS = (
    (r"environment|affected (?:component|version)s?|client information|packages? versions?"
     r"|system info|versions?|set-?up|hardware|gpu|operating systems|model|modell|modèle|parser|umgebung"
     r"|environnement|entorno|ambiente|环境|環境|환경|окружение|模型|モデル", False),
    (r"problem|problème|problema|issue|bug", False),
    (r"steps|schritte|étapes|pasos|passos|шаги", False),
    (r"logs?|(?:model |raw )?output|ausgabe|sortie|salida|日志|ログ|로그|логи|information|additional context", False),
    (r"describe the bug|bug (?:description|report)|problem description|what happen(?:s|ed)|actual|observed|symptoms?"
     r"|current behaviou?r|fehlerbeschreibung|ist-verhalten|问题(?:描述)?|現象|症状|증상|описание проблемы", True),
    (r"expect(?:ed|ation)|erwartet\w*|soll-verhalten|(?:résultat )?attendu|esperado|atteso|期望|预期|期待|기대"
     r"|ожида\w+", True),
    (r"(?:steps to |to )?reproduc\w+|schritte zum nachstellen|复现|再現手順|재현|repro", True),
    (r"your (?:current )?environment|what is the (?:issue|bug)|which version of LM Studio|name and version"
     r"|relevant log output|first bad commit|before submitting"
     r"|who can help"
     r"|which llama\.cpp modules", True),
)  # fmt: skip
