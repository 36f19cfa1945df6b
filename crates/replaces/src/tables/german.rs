//! German.

use super::{Role, Rows};

pub(super) const ROWS: Rows = &[
    (
        Role::Function,
        "der die das des dem den ein eine einer eines einem einen dieser diese dieses jener jede jeder jedes und \
         oder aber denn \
         weil in im an am auf aus bei beim mit nach von vom zu zum zur fur um durch uber unter vor hinter neben \
         zwischen seit \
         bis gegen ohne als wie dass es er sie wir ihr ich du man sich sein seine seiner seinem seinen ihre ihrer \
         ihrem ihren \
         unser unsere unserem unseren mein meine dein nicht kein keine keinen keiner nur noch schon auch sehr immer \
         alle \
         allem allen da dort hier dann so jetzt nun mehr dorthin uns mich euch",
    ),
    (
        Role::Copula,
        "ist sind war waren wird werden wurde wurden worden hat haben hatte hatten bin bist gewesen sei darf durfen \
         muss mussen \
         kann konnen soll sollen will",
    ),
    (
        Role::Verb,
        "wohn* arbeit* nutz* benutz* verwend* lauf* gehost* hosten hostet deploy* gespeicher* betragt kostet kosten \
         beginn* begann start* ende* lieg* \
         steh* heisst heissen gehor* sitz* befindet braucht brauchen fahr* trink* isst essen gebaut baut betreib* \
         studier* lern* nimmt \
         nehmen trainier* feier* bleib* geht gehen gilt findet stattfindet dauert macht eingelagert eingereicht \
         schlaft treffen trifft trag* lebt leben wiegt misst zahlt nutzt ablauft kommt",
    ),
    (
        Role::BeforeNoun,
        "fur von mit bei auf in im am aus zu zum zur der die das den dem des ein eine einen einem einer",
    ),
    (
        Role::Holds,
        "zustandig verantwortlich leitet verantwortet betreut verwaltet",
    ),
    (
        Role::Many,
        "mag mogen liebt hasst allergisch spricht sprechen kauft* gekauft besucht* kennt hat haben",
    ),
    (
        Role::Past,
        "war waren wurde wurden hatte hatten ging kam flog fuhr gepflanzt gelesen gesehen getroffen gekauft bezahlt \
         gegessen",
    ),
    (
        Role::End,
        "nicht~mehr keine~mehr keinen~mehr kein~mehr nie~mehr abgeschaltet entfernt geloscht gekundigt abgesagt \
         entfallt fallt_aus beendet \
         eingestellt aufgegeben aufgehort aufgelost geschlossen verkauft ausgezogen abgelost ersetzt ausgemustert \
         hingeschmissen abgebrochen verlassen abgeschafft abgestellt deinstalliert verschrottet stillgelegt \
         ausgelaufen \
         veraltet verboten gesperrt gestrichen weg niemand fruher* ehemalig* getrennt ausgeschieden umbenannt \
         weggefallen \
         aufgehoben entfallen raus",
    ),
    (
        Role::Before,
        "anstelle_von anstelle anstatt statt lost ersetzt statt_mit von_der",
    ),
    (
        Role::Change,
        "umgezogen zieht gezogen gewechselt wechselt wechselte umgestellt migriert geandert andert verschoben verlegt \
         vorverlegt erhoht gestiegen steigt gesenkt gesunken verlangert verkurzt umbenannt ubernommen ubernimmt \
         angehoben \
         ersetzt umgebucht aktualisiert umgeschrieben portiert bestellt_worden ernannt umgesattelt umgeschult \
         korrigiert \
         verringert verdoppelt halbiert wurde_zu umgestiegen",
    ),
    (
        Role::Now,
        "jetzt nun seit ab inzwischen mittlerweile neuerdings stattdessen kunftig neu neue neuen neuer neues aktuell \
         nunmehr \
         ab_sofort wieder",
    ),
    (Role::Move, "umgezogen gezogen zieht verzogen"),
    (
        Role::Live,
        "wohn* lebe lebt leben adresse ist_in ist_im ist_am ist_bei sitzt sind_in",
    ),
    (
        Role::Not,
        "nicht kein keine keinen keiner keinem nie ohne niemals",
    ),
    (Role::None, "kein keine keinen keiner"),
    (Role::Pronoun, "ich wir er sie es man"),
    (
        Role::Bounded,
        "wenn falls sofern wahrend ausser diese_woche heute morgen gestern letzten_mont* letzten_dienst* \
         letzten_mittw* letzten_donn* letzten_frei* letzten_sams* letzten_sonn* letzte_woche nachste_woche \
         vorubergehend ausnahmsweise einmal einmalig bis solange nur_nach vertretung vertritt",
    ),
    (Role::Relative, "welche welcher welches deren dessen"),
    (
        Role::Repeated,
        "jede jeden jedes jeder automatisch taglich wochentlich monatlich jahrlich regelmassig",
    ),
    (Role::Also, "auch ausserdem zusatzlich ebenfalls daneben"),
    (
        Role::Kin,
        "bruder schwester mutter vater eltern sohn tochter cousin cousine onkel tante neffe nichte frau_von mann_von \
         nachbar* kollege* kollegin* freund freundin schwiegermutter schwiegervater oma opa stellvertret*",
    ),
    (Role::User, "nutzer nutzerin benutzer benutzerin anwender"),
    (Role::Joint, "und aber denn weil da wo"),
    (
        Role::Weekday,
        "montag* dienstag* mittwoch* donnerstag* freitag* samstag* sonnabend* sonntag*",
    ),
    (
        Role::Month,
        "januar februar marz april mai juni juli august september oktober november dezember",
    ),
    (
        Role::Number,
        "zwei drei vier funf sechs sieben acht neun zehn elf zwolf",
    ),
    (Role::Ordinal, "erste* zweite* dritte* vierte* funfte*"),
    (Role::Hour, "uhr"),
    (
        Role::On,
        "an aktiv aktiviert eingeschaltet erlaubt darf durfen",
    ),
    (
        Role::Off,
        "aus inaktiv deaktiviert ausgeschaltet verboten gesperrt",
    ),
    (Role::Is, "ist sind"),
    (
        Role::Definite,
        "der die das den dem unser unsere unserem unseren mein meine meinem meinen sein seine ihr ihre",
    ),
    (Role::Indefinite, "ein eine einen einem einer"),
    (
        Role::Single,
        "ehefrau ehemann *name name titel *version version *farbe farbe *sprache sprache *branch branch *zweig port \
         *port host \
         *host hosting url adresse *adresse domain zeitzone frist *frist abgabetermin chef chefin vorgesetzte* \
         leiter leiterin *leiter *leiterin inhaber inhaberin hauptstadt wahrung schriftart lizenz preis budget limit \
         *limit timeout schwellwert format *format stil *stil einruckung kodierung ausgabe grosse alter status \
         phase prioritat stufe modus region anbieter datenbank *datenbank editor browser shell betriebssystem \
         linter formatierer bundler *manager paketverwaltung zielplattform arbeitgeber beruf arzt hausarzt \
         zahnarzt bank tarif motto *raum build-tool standard* lieblings* bevorzugt* offiziell* hauptregion",
    ),
    (
        Role::Several,
        "notiz* todo* entscheidung* werkzeug* kontakt* fehler* idee* fakt* tipp* hinweis* link links buch bucher \
         mitglied* hobby hobbys vorliebe* regel* lektion* aufgabe* person personen befehl* datei* thema themen \
         frage fragen ziel ziele problem* grund grunde option* schritt* beispiel* gast gaste gewinner* autor* \
         abhangigkeit* bibliothek* erkenntnis* beobachtung* warnung* punkt punkte ereignis* einer_der eine_der \
         eines_der freund* kollege* kollegin* kunde* kundin* teilnehmer* vorteil* nachteil* risiko ursache* tool \
         tools bug bugs",
    ),
    (
        Role::State,
        "*lich *bar *los *iert *isch *ig langsam schnell neu alt gross klein gut schlecht lang kurz hoch niedrig \
         voll leer frei bereit fertig kaputt stabil offentlich privat geschutzt gesperrt geschlossen offen laut \
         leise heiss kalt da hier weg",
    ),
    (Role::From, "von vom"),
    (Role::To, "auf zu zum zur nach"),
    (Role::For, "fur"),
    (Role::Uses, "nutz* benutz* verwend*"),
    (Role::Speaker, "ich wir"),
    (Role::With, "mit"),
    (
        Role::Adds,
        "nimmt nehmen braucht brauchen trinkt isst essen trag*",
    ),
    (Role::Status, "status zustand phase stand modus"),
    (
        Role::Attribute,
        "name titel version branch zweig host url adresse alter grosse preis status phase stufe arzt zahnarzt \
         hausarzt ehefrau ehemann inhaber",
    ),
    (
        Role::Person,
        "chef chefin vorgesetzte* *leiter *leiterin inhaber inhaberin arzt hausarzt zahnarzt ehefrau ehemann",
    ),
    (
        Role::Opens,
        "offnet offnen beginnt beginnen startet starten",
    ),
    (
        Role::Closes,
        "schliesst schliessen endet enden landet landen ankommt",
    ),
];
