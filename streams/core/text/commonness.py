"""How much a shared word says: a static table of common English words, in three classes, and of the lightest words of
German, French and Spanish.

Rarity that is counted per space grows by a record per word and starts blind; a table is bounded, known from the first
turn, and the same everywhere. The classes, by how often a word stands for something else than the matter at hand:

- LIGHT: says nothing alone or together (make, new, tuesday, send);
- COMMON: words of offices, code and daily talk with many uses (budget, report, order, table);
- ORDINARY: everyday matters, told apart by a second word (kitchen, flight, invoice, school).

Every other word is rare. The table is written for this module; its words are stemmed by the stemmer of `terms`.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

import Stemmer

from streams.core.text.cues import STOP
from streams.core.text.memo import Memo

LIGHT_WORDS = """
able about above accept accord across act action actual add additional advance afternoon again ago agree ahead allow
almost alone along already also although always among amount announce another answer anybody anymore anyone anything
anytime anyway apart appear apply approach appropriate april arrange around arrive ask asap assign assume attach attempt
attend august autumn available avoid aware away awful back bad barely base basic basically become before begin behind
believe belong below beside best better between beyond big bit both bottom bring brief busy buy call can cannot care
careful carry case catch cause certain chance change check choose clear clearly close collect combine come comment
compare complete concern confirm confuse connect consider contact contain continue convert cool copy correct could count
couple course cover create current currently cut daily damn day deal dear december decide deep definite definitely
deliver depend describe detail determine did differ difference different difficult directly discover discuss do does
doubt down draft drop due during each earlier early easily easy edit effect either else end enjoy enough ensure entire
especially etc evaluate even evening ever every everybody everyone everything everywhere exact exactly exist expect
explain extra fact fail fair fairly fall far fast feel february few figure fill final finally find fine finish first fit
five fix follow forget forward four free frequent friday full fully further future gather general generally get give
glad go good got great greet group grow guess guy half hand handle happen happy hard have hear hello help here hey hi
high hold honest honestly hope hour how however huge idea imagine immediate immediately important impossible improve
include increase indeed inform initial inside instead intend interest into introduce investigate involve january join
july jump june just keep kind know lack large last late later latest least leave left less let like likely list listen
little live long look lose lot love low luck main maintain major make manage many march matter may maybe mean meanwhile
meet mention might mind minute miss moment monday month more morning most mostly move much must name near nearly
necessary need never new next nice night nobody none normal normally nothing notice november now number obvious
obviously occur october off offer often okay old once one only open opinion opposite option or order other otherwise
ought out outside over overall own part particular pass past pay people per perfect perhaps person pick piece place plan
please plenty plus point possible possibly prefer prepare pretty prevent previous previously probable probably problem
produce progress promise proper properly provide pull push put question quick quickly quiet quite raise rather reach
read ready real realize really reason recent recently recommend reconsider reduce refer regard regular relate remain
remember remind reminder remove repeat replace reply request require respond response rest result return review right
ring run sad safe same saturday save say schedule second see seem select send sense separate september serious set seven
several shall share short should show side similar simple simply since single sit six size slightly slow small smart so
some somebody somehow someone something sometimes somewhere soon sorry sort sound speak special specific spend split
spring stand start stay step still stop straight strange strong stuff submit such sudden suddenly suggest summer sunday
suppose sure switch take talk tell ten tend thank thanks there thing think third though thought three through throughout
thursday time tiny today together tomorrow tonight too top total totally toward treat trouble true try tuesday turn
twice two type typical understand unless until update upload upon urgent use useful usual usually various verify via
view visit wait walk want watch way wednesday week weekend weekly weird welcome well whatever whenever whether while
whole will winter wish with within without wonder word work worry worse worst worth would wow write wrong yeah year yes
yesterday yet zero tackle reschedule renew cancel postpone organise organize sign bump ping poke nudge touch loop
followup todo note notes double revisit circle chase finalise finalize revise rewrite redo proofread settle monthly
yearly annual annually hourly mid noon midnight eod deadline date heard held lost won learn learned learning brought
longer sent became led lower born met poor wrote written began begun built crazy popular published grew growth spent
paid ate eat felt found told gave taken made known seen done gone said knew came went saw kept wide despite individual
sell sold super awesome amazing favorite favourite fun funny hate hurt meant hang broke broken bought wore wear older
eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty seventy
eighty ninety dozen
former professional respect cross crossed absolutely biggest bigger largest larger established commercial eventually
therefore complex highest prior ran caught shown rich sick ride fell rise rose shut stick wake woke tough alive critical
apparently significant extremely greatest greater rare unique dry excited exciting classic excellent solid massive
terrible tired afraid warm soft stuck mix angry comfortable emotional laugh laughed weak cute equal fake numerous
revealed approximately extended faster slower fault pure familiar capable bright essential empty unfortunately upset
minor struggle aside alternative appeal appreciate desire creative don maximum minimum scared favor admit random
represent achieve accurate afford harder mess permanent pleasure shift tight ultimately unlike brilliant combat defined
exclusive excuse latter grace perspective aim declared constant driven dumb heavily heavy hide hidden incident refused
broad drawn loud peak portion recognize tall fantasy opposed quote suspect tie valuable wise equivalent lift fought
obtained rough vast consistent ignore necessarily primarily regardless rescue rush sharp stable temporary complicated
consequence divided everyday extent gap gotten harm household impressive qualified ridiculous sensitive contrast
elsewhere loose curious discovered encourage formal gray gross hungry exposed struck explanation horrible ideal spoken
unusual rank flash boring denied afterwards alright anger plain disappointed efficient nervous newly odd ordinary
participate principle ugly boost whoever dust dramatic decline annoying conclusion congratulations convinced decent
forgotten forth nowhere smooth thrown stolen steal compete contributed bother intense occasionally reflect seek solo
spoke unable wing survive chosen desert folks folk bunch dude guys pal buddy mate gonna wanna kinda haha lol yum inspire
inspired inspiring inspiration motivate motivated passion passionate joy teach taught proud bet relax relaxed calm blast
explore incredible comfort lucky emotion outdoor spread wild impress chill strength serve bore escape scare scary spare
quit cheer smile hug cry breathe taste tasty delicious yummy fantastic wonderful lovely gorgeous beautiful neat brave
bold clever silly stupid awkward fresh frozen hot wet rapid steady mild thick thin raw ripe gentle firm bare smell
accidentally altogether anyhow besides briefly constantly entirely equally essentially gradually hardly initially
literally merely mildly originally partly personally perfectly potentially precisely presumably purely rarely relatively
roughly seriously severely slowly specifically strongly successfully sufficiently technically temporarily truly
typically virtually widely accomplish adapt adjust admire advise affect alter amaze analyse analyze annoy anticipate
apologise apologize assemble assess assist assure await blame borrow celebrate chat cheat chew cite clarify cleanup
climb commence complain conduct congratulate construct consult consume cope creep cure dare declare decorate delete deny
deserve destroy detect develop dig disappear dislike distinguish distribute dream drag earn eliminate embed emphasise
emphasize employ enable encounter enforce entertain establish estimate examine exceed expand experiment explode expose
extend extract facilitate favour feed fetch fight fold forbid forgive gain generate grab guarantee guide hesitate
highlight hurry identify illustrate implement imply import impose inspect insist install interrupt invent invest invite
isolate justify knock land launch lay lean leap lend lie loan locate manufacture maximise maximize minimise minimize
modify multiply negotiate notify observe obtain occupy oppose overcome owe perceive perform permit persuade possess
praise predict presume pretend proceed process proclaim prohibit promote propose prove purchase pursue qualify react
realise rebuild recall recognise record recover refuse regret reject release relieve rely remark resist resolve restore
restrict resume retain reveal reverse revert rub satisfy scan scratch search shake shout sink slide slip smash solve
specify spell spill squeeze squash stare starve stretch strike suffer suit summarise summarize supervise surprise
surround suspend swallow swap swear sweep tear tempt thrive throw tidy toss trace track transform trap tweak undergo
undo unlock urge vary wander warn wipe withdraw witness wrap
"""

FOREIGN_LIGHT_WORDS = """
abend abends abgesagt absagen acht alle allein allerdings alles anfang anfangen angeboten angefangen angerufen ans
ansonsten antwort arbeit außerdem beginnen beginnt begonnen beide beiden beim beispiel bekam bekomme bekommen bekommst
bekommt bereits besser beste bestimmt bevor bieten bietet bisschen bleibe bleiben bleibst bleibt blieb blöd brachte
bringe bringen bringst bringt dabei dachte dadurch dafür dagegen damals damit danach danke daran darauf darf darfst
darum darüber davon davor dazu demnächst denke denken derselbe deshalb deswegen dezember dienstag dienstags dieselbe
donnerstag donnerstags dort draußen drei drin dringend dritte dritten drüben durch dürfen eben echt egal eigene
eigenen eigentlich einfach einmal einzelne ende endlich entscheide entscheiden entscheidet entschieden entschuldigung
ergebnis erst erste ersten etwa etwas fall falls falsch fand fange februar fertig finde finden findest findet frau
frauen frei freitag freitags froh früh frühe früher frühestens fängt fünf gab ganz ganze ganzen geantwortet gebe geben
gebeten geblieben gebracht gedacht geerinnert geerzählt gefunden gefällt gegangen gegeben gegen geglaubt gehalten gehe
gehen geholfen gehst geht geklappt gekommen gekriegt gekümmert gelassen gelaufen gelegt gelesen genannt genau genommen
genug gepasst geplant gerade gern gerne geschrieben gesehen gestanden gestern getan getroffen gewusst geändert gibst
gibt ging gingen gleich groß große großen grund gründe grüße gut gute guten guter gutes hab habt halbe halben hallo
halt halte hatten heißen heißt helfe helfen herr herrn heut heute hieß hilfst hilft hin hinten hoch hohe hohen hoher
hundert hält hätte hätten höchstens höher idee ideen immer inzwischen irgendwann irgendwas irgendwer irgendwie
irgendwo jahr jahre jahren januar jede jeden jedenfalls jeder jedes jemand juli juni jänner kam kamen kenne kennen
kennst kennt klappt klein kleine kleinen komisch komme kommen kommst kommt kriege kriegen kriegt kurz kurze kurzen
könnte könnten kürzer kürzlich lang lange langen langsam lassen laufen leer lege legen legst legt legte legten leicht
leider lese lesen letzte letzten leute liege liegen liegt liest ließ länger lässt läuft mai mal manchmal mehr mensch
menschen mindestens mittag mittags mittlerweile mittwoch mittwochs moin monat monate monaten montag montags morgen
märz möchte möchten möglich müsste müssten nachdem nachher nachmittag nachmittags nachts nahe nahm nehme nehmen nenne
nennen nennt neue neuen neuer neues neulich neun nichts nie niedrig niemals niemand nimmst nimmt nummer nächste
nächsten nächster nächstes nämlich nötig oben obwohl offen oft ohne oktober paar packst packte packten passen passt
planen planst planten platz problem probleme rauf raus rechts richtig ruf rufe rufen rufst ruft rund runter sache
sachen sah samstag samstags schade scheint schien schlecht schlechter schließlich schnell schneller schreibe schreiben
schreibst schreibt schrieb schwer schön schöne sechs sehe sehen sehr seit seite servus sicher sieben siehst sieht
sitzen sitzt sobald sofort solange solche solcher sollen sollst sollte sollten sonnabend sonntag sonntags sonst spät
später spätestens stand statt stehe stehen steht stimmt stunde stunden stück tage tagen teil trage tragen treffe
treffen triffst trifft trotz trotzdem trägt tschüss ungefähr unten vergesse vergessen vergisst verschiebe verschieben
verschiebt verschiedene verschoben verstanden verstehe verstehen verstehst versteht viel viele vielen vielleicht vier
voll vom vorgestern vorher vormittag vormittags vorn weg wegen weise weit weiter weiß weißt weniger wenigstens wichtig
wichtige wirklich woche wochen wochenende wohl wollte wollten wort wusste während wäre wären würde würden zehn zeit
zeiten ziemlich zuerst zugesagt zuletzt zum zur zurück zusammen zwei zweimal zweite zweiten zwölf überall übermorgen
übrigens
aller allé alors année années août appelé après assez aujourd aurait autre autres avaient avait avant avez avons avril
beaucoup bien bientôt bonjour bonne bonsoir chaque chez cinq demain depuis dernier dernière deux devoir dimanche dit
dix doit donné décembre déjà désolé encore enfin ensuite faire fais fait faudrait faut février heure heures hier hui
huit jamais janvier jeudi jour jours juillet juin lundi madame mardi matin merci mercredi mettre mieux mois monsieur
même mêmes neuf nouveau nouveaux nouvelle novembre octobre pardon parfois peu peut peux plusieurs pouvoir première
prendre presque prochain prochaine puis quatre quelqu quelque quelques rien sais salut samedi savoir semaine semaines
septembre serait soir souvent tard toujours tous tout toute toutes trois trop trouve trouver vais vendredi veut veux
vieux voilà voir vois vont voudrais vouloir voulu vraiment étaient été
abajo abierto abre abril abrir acá además adiós agosto ahora ahí algo alguien allá allí alta apenas aquí arriba así
aunque ayer año años aún baja bajo bastante bien buena buenas bueno buenos cada caso cerca cerrar cierra cierta cierto
cinco claro conoce conocer conozco contra corta corto cosa cosas costó creen creer creo cualquier cuatro cuentan
cuesta cuestan daba dado debajo debe deben deber debería debo decir delante demasiado demás dentro desde después
detrás dicho diciembre diciendo dieron diez diferente difícil digo dije dijeron dijo domingo durante día días ejemplo
empieza empiezan empiezo encima encontrar encuentra enero enseguida entender entera entero entiende entiendo entonces
eran escribe escribir escribo escrito estaba estaban estamos estoy estuvo están estás falta faltan febrero final
firmaba firmada firmado firmamos firman firmando firmar firmaron firmas firmo firmé firmó forma fue fuera fueron fui
fácil gente gracias gusta haber habrá había hace hacen hacer hacía haga hagan hago hasta hecho hicieron hicimos hizo
hola hombre hora horas hoy hubo idea importa importante incluso jueves julio junio juntos lado larga largo leer lejos
leído libre llamó llena lleno luego lugar lunes manera marzo mañana mejor menor menos meses mientras minutos mira
miraba mirada mirado miramos miran mirando mirar miraron miras miro miré miró misma mismo mitad miércoles mucha muchas
mucho muchos mujer mundo más nada nadie ninguna ninguno ningún noche noches nombre noviembre nueva nueve nuevo nuevos
nunca número ocho octubre otra otras otro otros palabra parece parecen parte pasa pasar pedir peor pequeña pequeño
perdón persona pide piden pidió pido piensa piensan pienso poca poco pocos podemos podría pone ponen poner pongo
porque posible primera primero principio problema pronto propia propio próxima próximo pudo puede pueden puedo puesto
puso querer quería quiere quieren quiero quisiera quizá quizás razón recién recuerda recuerdo respuesta sabe saben
saber sabía salen salgo salir salió seguir según seis semana semanas septiembre será serán sería señor señora sido
siempre siendo siete sigo sigue siguen sobra sobre sola solamente supo sábado sé sólo tanta tanto tantos tarde tardes
tendrá tenemos tengo tenía tienen tienes toca toda todas todavía todo todos trae traen traer traigo trajo tres tuve
tuvo urgente usaba usada usado usamos usan usando usar usaron uso usé usó varias varios veces vemos ven vengo venir
veo vez vieja viejo viene vienen viernes vio visto volver voy vuelto vuelve vuelvo última último
"""
FOREIGN_VERBS = (
    (
        "bestell frag such kauf zahl bezahl schick setz stell zeig erzähl hör prüf klär meld versuch schaff reich "
        "dauer fehl folg hoff freu wünsch mach brauch glaub mein wechsel tausch",
        "e st t en te ten",
    ),
    (
        "gefrag gesuch gekauf gezahl geschick gesetz gestell gezeig gehör geprüf geklär gemeld geschaff gereich "
        "gedauer gefehl gefolg gehoff gefreu gewünsch gesag gemach gebrauch gemein gewechsel getausch",
        "t",
    ),
    (
        "arbeit red wart antwort beantwort kost",
        "e est et en ete eten",
    ),
    (
        "gearbeit gered gewart gekost",
        "et",
    ),
    (
        "erinner änder kümmer",
        "e st t n te ten",
    ),
    (
        "sag",
        "st t en te ten",
    ),
    (
        "notier funktionier telefonier reservier organisier",
        "e st t en te",
    ),
    (
        "lleg habl busc mand envi compr cambi cont record olvid anot pens ayud empez cancel confirm pag qued dej llev "
        "entr esper necesit trabaj prepar revis avis pregunt contest",
        "o a as an ar ó ado ada aba amos é aron ando",
    ),
)
"""Verbs of German and Spanish of which all forms are light, and the ends of these.

Light words of other languages are those that tell little of what is spoken of there, but those that English has for
what is ("toll", "pendant", "sea"). Without them days, numbers and everyday verbs were as rare there as names are.
"""

COMMON_WORDS = """
euro cent
access account activity address adult advice age agenda agent agreement air alarm alert analysis animal api app apple
application area argument arm army art article aspect asset assistant attention audience author average award baby
background bag balance ball band bank bar battery beach bear beat beauty bed bill bird birthday black block blog blood
blue board boat body book border boss bottle box boy brain branch brand bread break breakfast bridge brother browser
budget bug build building bus button cable call camera camp campaign capital captain car card career cash cat category
cell center centre century chain chair challenge channel chapter character charge chart chat cheap chemical chief
child children choice church city claim class client climate clock cloth clothes cloud club code coffee cold college
colleague color colour column command commit committee common communication community company competition complaint
component computer concept condition conference conflict content contract control conversation cook corner cost
council country course court crash cream credit crew crime crisis culture cup currency customer cycle dad damage dance
danger dark data database daughter dead death debate debt decision default defense degree delay delivery demand demo
department design desk development device diet dinner director discount disk distance district doc doctor document dog
dollar domain door dream dress drink drive driver drug economy edge editor education effort egg election email
employee employer energy engine engineer engineering entry environment error estimate event evidence exam example
exchange executive exercise expense experience experiment expert express eye face factor family fan farm fashion
father fear feature fee feedback field fight file film filter finance financial fire fish flag flat flight floor flow
flower fly focus folder food foot force form format forum frame friend front fruit fuel function fund game garden gas
gift girl glass goal gold government grade graph grass green grey ground guest guide guideline gun hair hall hardware
hat head health heart heat height hire history hit hole holiday home horse hospital hot hotel house husband ice icon
image impact income index industry info input install instruction insurance interface internet interview investment
invitation invite issue item job journey judge key kid kitchen knowledge label lab laboratory land language laptop law
lawyer layer lead leader leg legal lesson letter level library license licence life light limit line link lip load
loan local location lock log login logo loss lunch machine magazine mail man manager map mark market marketing
marriage mass master match material math meal measure meat media medical medicine meeting member memory menu message
metal method mission mistake mobile mode model module money monitor mood mother motor mountain mouth movie mum mom
museum music nature neck negative neighbor neighbour network news newspaper noise north nose object office officer oil
online operation opportunity organization original output owner pack package page pain paint pair panel paper parent
park partner party password patch path patient pattern payment peace performance period permission phone photo phrase
picture pipe pipeline plant plastic plate platform play player police policy politics pool population port position
positive post pot potential pound power practice presence present presentation president press pressure price print
printer priority prize procedure process processor product production profession profile profit program programme
project proof property proposal prototype public purchase purpose quality quantity quarter query queue race radio rain
range rate ratio reaction record red region relationship release rent repair report repository repo research resource
restaurant review rice risk river road role roll room root round route row rule safety salary sale sales salt sample
scale scene school science score screen script sea search season seat secret section sector security seed series
server service session setting setup shape sheet ship shirt shoe shoes shop shopping shot shoulder shower signal
silver sister site situation skill skin sky slide slides slot smoke snow social society software soil solution son
song sort source south space speech speed sport spot staff stage standard star state statement station statistic
status stock stone storage store storm story strategy stream street stress structure student studio study style
subject success sugar suit summary sun supply support surface surprise survey sweet symbol system table tag tail
target task tea teacher team tech technique technology television temperature template term test testing text theater
theme theory thread ticket tip title tone tool topic tour tower town track trade tradition traffic train training
transfer transport travel tree trend trial trip truck trust truth tv twitter uncle unit university user username
vacation valley value vegetable vehicle version video village voice volume vote wall war warning waste water wave
weather web website weight wheel white wife wifi wind window winner wood workflow world yard yellow young youth py js
ts md txt pdf csv png html css com org www http https src lib usr bin tmp readme approval brainstorm calendar
checklist comms coordinate deck deploy deployment dev division forecast framework hr launch logistics memo metric
objective outline ops outreach overview plan planner prospect quarterly recap recruit recruiting retro scope spec
sponsor standup supplier sync timeline workshop backend frontend cache cluster config configuration container console
cron debug dependency endpoint env exception git handler hook instance integration json latency loop merge migrate
migration node null optimize parameter parse parser proxy pull refactor regex render request rollback runtime schema
ssh stack staging string syntax timeout token upgrade url validate validation variable widget woman women men national
american international human million english private british middle king east federal league central european foreign
german french chinese italian spanish russian japanese indian minister percent rock western justice movement ability
episode battle physical pro civil independent secretary administration senior facebook gay male reality christian holy
primary agency pop freedom murder queen fat northern southern religious species famous square cent digital generation
hill foundation prime soul spirit basis institute chairman magic net birth host labor labour leadership length
thousand aid billion criminal violence weapon evil core description guard nuclear victory emergency failure festival
kick prince zone capacity hundred governor enemy soldier behavior behaviour domestic honor native planet younger
boyfriend girlfriend joke drama grown scientific abuse internal external strike sub identity twenty urban confidence
aircraft facility distribution phase talent troop coverage context display vision giant threat gender motion register
resolution rural creation universe decade heaven kiss recovery sentence academic permanent scheme crown depression
personnel revolution victim ban carbon depth deputy interior legislation maintenance relief resistance shame
advertising empire contest marine reform retirement therapy witness adoption campus childhood clinical comparison
defeat defence democracy wealth convention finger gang inner highway hunt inch junior neighborhood outstanding
regulation visual biology pride settlement trick chamber healthcare province recognition reputation tear adventure
atmosphere belief founder infrastructure moral poverty transition acid anxiety authority discovery enforcement formula
mystery palace silence assault exposure fiction legend mini shadow wage rear romantic strategic swimming welfare wire
architecture behalf comic efficiency routine self mental construction counsel pink purple orange brown blonde lady
lord hero angel alternative mechanism dimension element ingredient layout mock draft batch gap swap bonus hack
expectation improvement requirement responsibility preference recommendation suggestion possibility availability
assumption conclusion consequence explanation implementation intention interpretation investigation observation
reminder replacement satisfaction selection specification calculation variation attendance attachment assistance
allowance evaluation completion participant attendee mailbox inbox chatbot bot coworker teammate intern workplace
afternoon snack weekend
"""

ORDINARY_WORDS = """
tax milk wine wedding toilet plane taxi abroad accident accommodation addition album alcohol analyst angle apartment
appetite appliance appointment army arrival artist assembly assessment assignment association attitude audio audit
avenue backup backyard bake banner basement basket bath bathroom bedroom bell belt bench benefit bike blind boil bolt
bomb bone bonus booking boot bowl brake branding brick brush bubble bucket bundle burn button buyer cabinet calf
candidate cap cargo carrier cart catalog catalogue catering cd ceiling celebration ceremony certificate champion
charger cheque chest chip christmas circuit citizen classroom cleaner cleaning closet coach coast coat coin collar
comedy commission commute companion compensation compost concert concrete consultant consultation consumer counter
crack craft crane crowd custody customs dealer decoration delegate deposit diary dining dish ditch dock dose download
drain drawer drawing drill duty earring earth electric electrical electronics engagement entrance equipment essay
estate exhibition expansion expedition explosion export extension fabric factory faculty firm fitness flavor fluid
foam football forest fork freelance freezer fuse gallery garage gate gear gene genre glove grant graduation grocery
groceries guarantee habit handbook harbor hardware harvest heating hip hobby homework hood hose illness import
ingredient injection injury ink installer instrument inventory investor iron island jam jar joint jog journal
journalist juice keyboard keynote knee knot label lake lane liability license lid lighting liquid literature lobby
locker lounge mall manual manuscript marble marker mask mat membership memo merchant metro mill mirror mixer monkey
monster muscle nail needle nest newsletter notification nut ocean orange orientation outfit outlet paddle painting pan
parking partnership passenger patio patrol pavement pen penalty pencil pepper perfume permit pet photography pile pill
pin pitch plaster plot plug pocket pole poll portfolio poster powder preview principal prison privacy professor
promotion protein protest protocol pump pupil purse rack rail railway ranch recipe recording recruiter recycle referee
referral refrigerator refund registration republic reservation reserve resident residence retailer revenue rhythm roof
rope rose rubber sail sand saving savings scientist screw seller senate sensor shade shelf shell shelter shipment
shipping shore shorts signature sink skate sleeve solar spam speaker spice spreadsheet stain stair stairs stamp steak
steam steel stove subscription suburb subway supermarket surf syllabus syndrome tablet tank tape teammate terrace
territory textbook theatre thesis thunder timber toast tooth teeth torch towel trail trailer trainer translation trash
tray treasure treatment tube tunnel tutorial twin union upgrade venue verdict vet visitor volunteer warehouse washing
whistle wildlife workout worker wound wrist dashboard roadmap stakeholder backlog onboard onboarding kickoff
retrospective rollout sprint vendor procurement contractor compliance turnover deliverable milestone invoice
inspection
"""


LIGHT, COMMON, ORDINARY, RARE = 0, 1, 2, 3
WEIGHTS, NUMBERED = (0.0, 0.35, 0.6, 1.0), 1.5
"""What a shared stem says, by its class; one that is at least ordinary and has a digit."""


VERBS = """
address back bill block book call change chart check clean code colour comment contact cook copy date draft dress
email exercise file film fix fuel guide handle host house label land list log mail map measure model name note order
pack page paint park patch phone photograph place plan post present price print process program record report request
research review sample schedule score screen share ship shop sign sort stage stamp start stock store study supply
support survey switch table talk target test text tip track trade train transfer travel type update view visit water
wave weigh work
"""
"""Words that, as the first of a note, are what to do and not what about ("Email the client", "Water the plants")."""


def foreign_light() -> list[str]:
    """The light words of other languages than English."""
    forms = [stem + end for stems, ends in FOREIGN_VERBS for stem in stems.split() for end in ends.split()]
    return [*FOREIGN_LIGHT_WORDS.split(), *forms]


@cache
def _table() -> dict[str, int]:
    """The class of every known stem; COMMON where its words are of several. Why it is made when a stem is first asked
    for: most commands ask for none, and it takes as long."""
    found: dict[str, int] = {}
    for level, words in (
        (LIGHT, [*LIGHT_WORDS.split(), *foreign_light(), *STOP]), (COMMON, COMMON_WORDS.split()),
        (ORDINARY, ORDINARY_WORDS.split()),
    ):  # fmt: skip
        for stem in _stems(words):
            if found.setdefault(stem, level) != level:
                found[stem] = COMMON
    return found


def _stems(words: Iterable[str]) -> list[str]:
    """The stems of words, as `terms` makes them: what is not ASCII is its own stem, and "ß" is "ss"."""
    folded = [word.casefold() for word in words]
    return [_ENGLISH.stemWord(word) if word.isascii() else word for word in folded]


_ENGLISH = Stemmer.Stemmer("english", 0)
ORDERS = frozenset(_stems(VERBS.split()))
"""The stems of `VERBS`."""


def rarity(stem: str) -> int:
    """The class of a stem: LIGHT, COMMON, ORDINARY or RARE."""
    return CLASSES[stem]


def _shape(stem: str) -> int:
    """The class of a stem outside the table: RARE unless its shape says otherwise.

    Times and measures ("10am") are light; years, round or short numbers, two letters and pairs of characters of a
    script without spaces are common; names with digits ("q3") are ordinary.
    """
    if stem.isdigit():
        return COMMON if len(stem) < 4 or stem.endswith("00") or stem[:2] in ("19", "20") else RARE
    if len(stem) <= 2:
        return COMMON
    if any(char.isdigit() for char in stem):
        return LIGHT if stem[0].isdigit() else ORDINARY
    return RARE


def _look(stem: str) -> int:
    level = _table().get(stem)
    return _shape(stem) if level is None else level


CLASSES = Memo(_look)
"""The class of any stem, by lookup: see rarity."""


def telling(stems: Iterable[str]) -> int:
    """How many of some stems say anything."""
    return sum(CLASSES[stem] != LIGHT for stem in stems)


def weight(stem: str) -> float:
    """What a shared stem says."""
    return NUMBERED if CLASSES[stem] > COMMON and any(map(str.isdigit, stem)) else WEIGHTS[CLASSES[stem]]
