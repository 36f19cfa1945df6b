//! The phrases of each signal.
//!
//! A phrase matches whole words in this order, with any endings (`decided` finds `decides`, too). A word behind `=`
//! matches only in this spelling, in any case. `^` in front: only at the beginning of a sentence, behind words such as
//! `so`, `and`, `please`. A word with `:` at its end needs the colon. `_` stands for any one word.

use crate::found::Signal;

/// Phrases of each signal, separated by `;`: English first, then other languages.
pub(super) const CUES: &[(Signal, &str)] = &[
    (
        Signal::Marked,
        "^remember; remember that; remember this; remember to always; please remember; remember:; ^note; \
         ^note that; note:; important:; ^important; important to note; keep in mind; bear in mind; \
         =from =now =on; going forward; =for =future =reference; for the record; dont forget; never forget; \
         ^=always; ^=never; please =always; please =never; =we =always; =we =never; you should =always; \
         must =always; must =never; should =never; should =always; =always =use; =never =use; =always =run; \
         =never =run; =never =commit; =never =push; =never =edit; =never =call; =never =touch; =always =ask; \
         rule:; rule of thumb; convention:; gotcha:; =gotcha; caveat:; lesson learned; lesson:; lessons:; \
         takeaway; key insight; =til; til:; decision:; conclusion:; warning:; beware; ^=store =that; memorize; \
         ^=save =this; ^=fyi; under no circumstances; =at =all =times; make sure to =always; \
         make sure you =always; =next =time; =in =the =future; =merk =dir; =merke =dir; =denk =daran; =beachte; \
         =wichtig:; =ab =jetzt; =ab =sofort; =künftig; ^=immer; ^=nie; ^=niemals; =souviens-toi; =souviens =toi; \
         =désormais; =à =partir =de =maintenant; ^=toujours; =ne =jamais; =nota:; =important:; decided:; agreed:; \
         =regel:; =hinweis:; =achtung:; =merke:; =entscheidung:; =beschluss:; =entschieden:; =beschlossen:; \
         =vereinbart:; =décision:; =décidé:; =règle:; =attention:; =decisión:; =decidido:; =acordado:; =regla:; \
         =atención:; =decisão:; =decisione:; =deciso:; =regola:; =recuerda =que; \
         =a =partir =de =ahora; ^=siempre; ^=nunca; =lembre-se; =lembre =se; =a =partir =de =agora; \
         =sempre =use; =ricorda =che; =d'ora =in =poi",
    ),
    (
        Signal::Decision,
        "we decided; =decided; =decides; decided to; decided on; decided against; decision; =chose; =chosen; \
         =choose; =we =picked; =i =prefer; =we =prefer; prefer; preferred; switched to; switching to; moved to; \
         moving to; =migrated =to; =we =migrated; =went =with; =going =with; =go =with; settled on; instead of; \
         rather than; in favor of; in favour of; agreed; agreed to; agreed on; =we =use; =we =will =use; \
         =well =use; =we =are =using; =were =using; =we =do =not; =we =dont; ^=use; ^=dont; ^=do =not; ^=prefer; \
         ^=avoid; ^=stick; stick with; stick to; adopted; dropped; replaced _ with; replaced by; replaced; \
         deprecated; our policy; policy; convention; standardized on; standardised on; the plan is; must; \
         =must =not; mandatory; =not =allowed; forbidden; only =use; =should =use; =should =not; =shouldnt; \
         opted for; trade off; tradeoff; ruled out; rejected; approved; single source of truth; ^=only; \
         =i =want; =i =like; =i =hate; =i =dislike; =please =use; =no =longer; will not support; wont support; \
         =wont =use; =will =not =use; =we =cant =use; =we =cannot =use; =well =stay; =we =stay; =were =staying; \
         =ended =up =using; =id =rather; =lets =use; =lets =stick; =lets =adopt; \
         ^=no _ =without; ^=no _ _ =without; ^=keep _ =short; ^=keep _ =small; ^=keep _ =under; ^=keep _ =below; \
         ^=answer =in; ^=reply =in; ^=respond =in; \
         out of scope; =entschieden; =beschlossen; =statt; =wir =verwenden; =wir =nutzen; \
         =wir =benutzen; =wir =bleiben =bei; =wir =bleiben =auf; =wir =setzen =auf; =wir =verzichten; \
         =wir =wechseln; =wir =nur =noch; =verwenden =wir; =nutzen =wir; =benutzen =wir; =umgestiegen; =geeinigt; \
         =fliegt =raus; =ich =bevorzuge; =ich =mag; =ich =hasse; =ich =hätte =gern; =darf =nicht; =dürfen =nicht; \
         =darf _ =nicht; =dürfen _ =nicht; =darf =nie; =dürfen =nie; =darf =nur; =dürfen =nur; =darf =kein; \
         =dürfen =kein; =darf =keine; =dürfen =keine; =darf =keinen; =dürfen =keinen; =verboten; =bitte =kein; \
         =bitte =keine; =bitte =nicht; ^=kein _ =ohne; ^=keine _ =ohne; ^=keine _ _ =ohne; \
         =entscheidung:; =beschluss:; =décision:; =décidé:; =decisión:; =decidido:; =decisão:; =decisione:; =nous =avons =décidé; \
         =au =lieu =de; =nous =utilisons; =hemos =decidido; =decidimos; =en =lugar =de; =en =vez =de; =usamos; \
         =abbiamo =deciso; =invece =di",
    ),
    (
        Signal::Architecture,
        "=uses; =used =for; =used =by; =is =used; =are =used; architecture; =pattern; =patterns; algorithm; \
         depends on; based on; built on; built with; built in; built from; written in; stored in; stored as; \
         =stores; =lives =in; =live =in; =lies =in; =resides; located in; =located; backed by; talks to; schema; \
         endpoint; interface; protocol; consists of; composed of; responsible for; =handles; generated by; \
         generated from; derived from; source of truth; runs on; runs in; =runs =as; implemented in; \
         implemented as; implemented with; implements; communicates; connects to; serialized; serialised; \
         encoded; =format; =microservice; =monolith; =monorepo; =middleware; \
         =pipeline; =caches; =cached; database; =primary foreign key; \
         =async; event sourcing; append only; =wraps; =wrapper; =entry =point; entrypoint; =owns; \
         =maps =to; =points =to; =returns; =writes =to; =reads =from; =listens; =exposes; =contains; =provides; \
         ^=to _ =run; ^=to _ _ =run; ^=to _ =use; ^=to _ _ =use; ^=to _ _ _ =use; \
         =invariant; =immutable; =idempotent; =single =writer; =is =kept =in; =are =kept =in; =is =stored; \
         =are =stored; =verwendet; =liegt =in; =liegen =in; =liegt =unter; =liegen =unter; \
         =läuft =auf; =laufen =auf; =läuft =mit; =laufen =mit; =startet =man; =baut =man; =besteht =aus; \
         =basiert =auf; =in _ =geschrieben; =unsere =datenbank; =utilise; =utiliza",
    ),
    (
        Signal::Fix,
        "=found =the =problem; =found =the =issue; =found =the =cause; =found =the =bug; error; fixed; =fixes; =fix =is; =fix =was; =fix:; =bug; =bugs; workaround; work around; root cause; \
         caused by; =cause; =causes; =caused; turned out; turns out; =problem =was; =issue =was; =problem =is; \
         =issue =is; fails with; fails when; fails if; fails because; =failed; crash; regression; memory leak; \
         =leak; =leaked; =leaks; deadlock; race condition; =race; =broke; =broken; =breaks; solved by; solution; \
         the trick; =flaky; incompatible; doesnt work; does not work; didnt work; did not work; =not =supported; \
         unsupported; =hangs; =hung; timed out; times out; off by one; segfault; panic; corrupted; =corrupts; \
         exception; overflow; =stale; =missing; mitigated; resolved; =silently; =ursache; =fehler; =lag =an; =grund =für =den; =grund =für =die; =grund =für =das; =kam =von; =erreur; \
         =corregido; =solución",
    ),
    (
        Signal::Configuration,
        "configured; configuration; config; setup; =set =up; installed; =install; enabled; disabled; \
         environment variable; =env =var; =env; =flag; =port; defaults to; default is; =default; =set =to; =set; \
         setting; =timeout; =limit; =limits; =requires; =require; =needs; =version; =pinned; pin; credentials; \
         =key; =license; =dependency; =toml; =yaml; feature flag; toggle; =at =most; =at =least; maximum; =max; \
         minimum; =retention; =expires; =listening; =konfiguriert; =configuré; =configurado",
    ),
    (
        Signal::Development,
        "commit; deploy; deployment; migrate; migration; refactor; release; =merge; =merged; branch; rollback; \
         =ci; =cd; =build; =builds; publish; =tests =run; =tests =are; =test =suite; =lint; =linter; formatter; \
         =staging; production; =cron; =nightly; review; =pull =request; =prs; changelog; hotfix; upgrade; \
         benchmark; =run =tests; =run; =before =merging; =before =pushing; snapshot",
    ),
    (
        Signal::Person,
        "my name is; =call =me; =i =work; =i =live; =i =am =a; =im =a; our team; the team; =owner =of; \
         =owner =is; responsible for; =owns; =owned =by; in charge; deadline; =due =on; =due =by; birthday; time zone; timezone; \
         =contact; on call; maintainer; maintained by; =customer; =client =wants; =my =editor; =my =laptop; \
         =my =machine; stakeholder; meets on; meeting; =pronouns; =mein =name =ist; =ich =heiße; =ich =arbeite =bei; =ich =arbeite =als; =ich =arbeite =im =team; =ich =arbeite =meistens; =ich =wohne; \
         =zuständig; =verantwortlich =für; =kümmert =sich; =ansprechpartner; =ansprechpartnerin",
    ),
    (
        Signal::Reason,
        "because; =since; so that; due to; the reason; =reason; otherwise; =hence; therefore; =thus; \
         =thats =why; =which =is =why; in order to; =weil; =damit; parce que; =porque",
    ),
    (
        Signal::Question,
        "=remember =where; =remember =how; =remember =what; =remember =when; =remember =why; =remember =who; \
         =remember =which; =remember =if; =remember =whether; \
         ^should we; ^should i; ^can you; ^could you; ^would you; ^can we; ^could we; ^can i; ^do we; ^do you; \
         ^does _ have; ^is there; ^are there; ^is it; ^is this; ^what about; ^what if; ^what is; ^whats; \
         ^what does; ^what do; ^how do; ^how does; ^how can; ^how about; ^why does; ^why do; ^why is; \
         ^which one; ^where is; ^where do; ^who is; ^shall we; ^shall i; ^want me to; ^do you want; ^would it; \
         ^any idea; ^any thoughts",
    ),
    (
        Signal::Hypothetical,
        "maybe; perhaps; =might; =could =be; =may =be; =may =need; =may =want; possibly; =i =think; =i =guess; \
         =i =suspect; =i =believe; =i =suppose; =probably; =not =sure; =unsure; unclear; what if; =if =we; \
         =would =be =nice; =we =could; =you =could; =we =can =either; should we; =seems; =seem; =looks =like; \
         =look =like; wondering; =tbd; =consider; =considering; =one =option; another option; =options; \
         alternatively; =alternative; =undecided; havent decided; not decided; not yet decided; =if =you =want; \
         =if =you =like; =if =you =prefer; =if =youd =like; =would =you; =let =me =know; =hypothetically; \
         =suppose; =assuming; =i =wonder; =could =also; =would =have; =should =work; =should =be =fine; \
         =could =try; =try =to; some day; =someday; =eventually; =ideally; =imagine; =for =example; =vielleicht; \
         =eventuell; =möglicherweise; =vermutlich; =wahrscheinlich; =ich =glaube; =ich =denke; =ich =vermute; \
         =wir =könnten; =könnten =wir; =sollten =wir; =sollen =wir; =scheint; \
         =peut-être; =peut =être; =quizás; =tal =vez; =forse",
    ),
    (
        Signal::Progress,
        "^=i =will; ^=ill; ^=let =me; ^=lets; ^=now; ^=next; ^=first; ^=im =going; ^=i =am =going; ^=going =to; \
         ^=im =now; ^=i =need =to; ^=i =should; ^=i =can =see; ^=i =see; ^=i =notice; ^=im =looking; \
         ^=im =working; ^=looking; ^=checking; ^=running; ^=reading; ^=searching; ^=creating; ^=updating; \
         ^=adding; ^=writing; ^=starting; ^=continuing; ^=working; ^=trying; ^=testing; ^=fixing; \
         ^=implementing; ^=done; ^=finished; ^=completed; ^=successfully; ^=all =tests; ^=the =tests =pass; \
         ^=tests =pass; ^=heres; ^=here =is; ^=here =are; ^=this =will; ^=wait; ^=hmm; ^=i =have =now; \
         ^=ive =now; ^=ive =updated; ^=ive =added; ^=ive =created; ^=i =have =updated; ^=i =have =added; \
         ^=i =have =created; ^=i =added; ^=i =updated; ^=i =created; ^=ive =made; ^=i =made; ^=ive =written; \
         ^=ive =implemented; ^=i =have =implemented; ^=ive =read; ^=ive =looked; ^=the =file =has; \
         ^=file =updated; ^=build =succeeded; ^=the =build =is; ^=everything; ^=summary; ^=in =summary; \
         ^=to =summarize; =let =me =check; =let =me =look; =let =me =try; =ill =now; =i =will =now; \
         =im =going =to; ^=okay; ^=now =i; ^=now =let; ^=also =let; =as =requested; =as =you =asked; \
         ^=starting =with; ^=step; ^=we =now =have; ^=we =need =to; ^=i =also; ^=i =just; ^=todo; \
         =still =failing; =now =gone; =now =works; =works =now; =now =renders; =now =fixed; =now =correctly; =now =green; =passes =now; =now =passes; =now =pass; ^=ich =werde; ^=ich =schaue; ^=ich =prüfe; \
         ^=ich =sehe; ^=ich =habe =den; ^=ich =habe =die; ^=ich =habe =das; ^=wir =müssen; ^=lass =mich; =ist =jetzt =grün; =klappt =jetzt; =läuft =jetzt; =geht =jetzt; ^=je =vais; ^=voy =a",
    ),
    (
        Signal::Greeting,
        "^=hi; ^=never =mind; ^=hello; ^=hey; ^thanks; ^=thank =you; ^=thx; =good =morning; =good =evening; ^=good =job; \
         ^=nice; ^=great; ^=perfect; ^=awesome; ^=excellent; ^=cool; ^=youre =right; ^=you =are =right; \
         ^=youre =welcome; ^=sorry; ^=my =apologies; ^=i =apologize; =no =problem; =sounds =good; ^=looks =good; \
         =lgtm; ^=glad; =happy =to =help; =let =me =know; =feel =free; ^=good =question; ^=great =question; \
         =how =are =you; ^=absolutely; ^=of =course; ^=certainly; ^=congratulations; ^=hallo; ^=danke; \
         ^=bonjour; ^=merci; ^=hola; ^=gracias",
    ),
    (
        Signal::Request,
        "=can =you; =could =you; ^=fix; ^=add; ^=write; ^=run; ^=implement; ^=refactor; ^=update; ^=create; ^=make; ^=show; ^=explain; \
         ^=check; ^=look; ^=find; ^=help; ^=try; ^=review; ^=commit; ^=push; ^=delete; ^=remove; ^=rename; ^=go; \
         ^=continue; ^=install; ^=deploy; ^=change; ^=read; ^=open; ^=search; ^=test; ^=build; ^=merge; ^=move; \
         ^=generate; ^=investigate; ^=debug; ^=summarize; ^=list; ^=tell; ^=give; ^=start; ^=stop; ^=revert; \
         ^=undo; ^=apply; ^=verify; ^=clean; ^=improve; ^=convert; ^=replace; ^=see; ^=click; ^=wait; \
         ^=configure; ^=set =up; ^=set; =i =want =you; =i =need =you; =id =like =you; =i =want =to; \
         =i =need =to; =i =would =like; =id =like; ^=we =should; ^=you =should; \
         ^=kannst =du; ^=könntest =du; ^=schreib; ^=füge; ^=zeig; ^=erkläre",
    ),
];

/// Marks in scripts without spaces; they match anywhere in a sentence.
pub(super) const PIECES: &[(Signal, &[&str])] = &[
    (
        Signal::Marked,
        &[
            "记住",
            "記住",
            "请注意",
            "从现在开始",
            "以后都",
            "永远不要",
            "始终使用",
            "覚えて",
            "今後は",
            "必ず",
            "기억해",
            "앞으로는",
        ],
    ),
    (
        Signal::Decision,
        &[
            "决定",
            "決定",
            "改用",
            "我们使用",
            "採用",
            "使うこと",
            "결정했",
        ],
    ),
    (
        Signal::Hypothetical,
        &["也许", "可能", "或许", "かもしれ", "아마"],
    ),
    (Signal::Question, &["吗", "呢？", "ますか", "ですか"]),
];

/// Words that may stand before a sentence proper.
pub(super) const FILLERS: &[&str] = &[
    "so",
    "and",
    "but",
    "also",
    "well",
    "ok",
    "okay",
    "yes",
    "yeah",
    "oh",
    "right",
    "then",
    "btw",
    "please",
    "just",
    "actually",
    "no",
    "alright",
    "anyway",
    "sure",
    "finally",
    "additionally",
    "remember",
    "bitte",
];
