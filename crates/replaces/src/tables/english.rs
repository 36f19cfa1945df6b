//! English.

use super::{Role, Rows};

pub(super) const ROWS: Rows = &[
    (
        Role::Function,
        "everyone everybody a an the this that these those of for in on at to by with from into onto over under as \
         than about between through up \
         out off before after per each every all any some both its his her their our your my it he she they we i you \
         who \
         whom which what where when there here so such only just very still always usually and or but because since \
         while \
         him them us me do does did doing done will would can could may might must should shall not no nor s t re ve \
         ll d m \
         more most other another own same too also then if until during instead now",
    ),
    (
        Role::Copula,
        "is are was were be been being has have had am isn't aren't wasn't weren't hasn't haven't hadn't",
    ),
    (
        Role::Verb,
        "live* work* use uses used using run runs running host hosts hosted hosting serve serves served serving \
         store stores stored keep* kept build* built cost* charge* listen* start* begin* end* leave* \
         depart* arrive* land* take* get* need* require* meet* open* close* call* named belong* report* weigh* \
         measure* drive* drink* eat* write* written deploy* compile* format* style* track* live* reside* stay* sit* \
         point* expire* last* pay* reach* respond* support* accept* allow* handle* assign* go goes teach teaches \
         taught \
         train* sleep* wear* read reads reading expect* connect* bill* book* schedul* set due locate* install* \
         studies study* \
         hang* chat* indent* lint* contain* happen happens",
    ),
    (
        Role::BeforeNoun,
        "for of in on at to by with from into per the a an",
    ),
    (
        Role::Holds,
        "responsible in_charge lead leads own owns manage manages maintain maintains head heads chair chairs",
    ),
    (
        Role::Many,
        "depend depends depended prefer* want* like* dislike* love* hate* allergic speak speaks spoke spoken \
         speaking buy* visit* knows know* enjoy* learn* collect* has have",
    ),
    (
        Role::Past,
        "was were had did got took gave made said told went came saw met flew drove ran read ate drank bought sold \
         paid \
         cooked watched visited attended referred reviewed played finished failed started swam wrote won lost fell \
         rose",
    ),
    (
        Role::End,
        "no_longer not~more doesn't~more don't~more didn't~more any_more anymore any_longer gone removed deleted \
         dropped drops retired retires closed cancelled canceled \
         uninstalled shut_down switched_off turned_off thrown_out phased_out sorted_out gave_up given_up gives_up \
         quit quits \
         ended expired discontinued deprecated decommissioned replaced abandoned scrapped sold frozen read-only \
         obsolete \
         outdated broke_up split_up stopped stops out_of has_left have_left left_the nobody no_one forbidden banned \
         disabled revoked withdrawn \
         terminated resigned died dissolved rejected thrown_away ditched got_rid_of get_rid_of went_to_the \
         archived unused dead moved_away moved_on moved_off moved_out renamed overbooked turned_into dismantled \
         never_again not_renewed superseded lapsed fired divorced separated",
    ),
    (
        Role::Before,
        "instead_of rather_than in_place_of replaces replacing replaced no_more from",
    ),
    (
        Role::Change,
        "moved moves switched switches migrated migrating migrate changed changes became renamed relocated took_over \
         taken_over takes_over raised raises lowered increased increases reduced decreased cut extended shortened \
         postponed \
         rescheduled rebooked pushed brought_forward upgraded downgraded bumped replaced rewritten ported converted \
         turned_into transferred corrected correction actually updated put_up went_up goes_up went_down delayed \
         shifted \
         reassigned promoted dropped doubled halved grew rose fell set_to swapped adopted finished rebuilt handed_over",
    ),
    (
        Role::Now,
        "now since instead nowadays these_days as_of from_now_on currently new meanwhile anymore starting_from \
         effective \
         by_now again latest",
    ),
    (Role::Move, "moved relocated moves settled"),
    (
        Role::Live,
        "live lives lived living resides stays address is_in are_in is_at are_at is_near",
    ),
    (
        Role::Not,
        "no not never isn't aren't doesn't don't didn't cannot can't won't wasn't none without nothing",
    ),
    (Role::None, "no"),
    (Role::Pronoun, "i we he she they it you"),
    (
        Role::Bounded,
        "if unless except during this_week this_month today tomorrow yesterday tonight last_mon* last_tue* last_wed* \
         last_thu* \
         last_fri* last_sat* last_sun* last_year_s this_year_s last_month_s next_week until temporarily \
         exceptionally once_a \
         stood_in covers_for acting",
    ),
    (Role::Relative, "that who whose"),
    (
        Role::Repeated,
        "every each always automatically weekly daily monthly yearly nightly hourly periodically regularly",
    ),
    (Role::Also, "also too as_well additionally besides plus"),
    (
        Role::Kin,
        "brother* sister* mother* father* parents son sons daughter* cousin* uncle* aunt* nephew* niece* wife husband \
         neighbour* neighbor* roommate* colleague* partner* friend* grandma* grandpa* grandmother* grandfather* \
         in-law* \
         mother-in-law father-in-law deputy assistant",
    ),
    (Role::User, "user users"),
    (
        Role::Joint,
        "and but because so while whereas after since when where which",
    ),
    (
        Role::Weekday,
        "monday* tuesday* wednesday* thursday* friday* saturday* sunday*",
    ),
    (
        Role::Month,
        "january february march april may june july august september october november december jan feb mar apr jun \
         jul aug \
         sep sept oct nov dec",
    ),
    (
        Role::Number,
        "one two three four five six seven eight nine ten eleven twelve",
    ),
    (
        Role::Ordinal,
        "first second third fourth fifth sixth seventh eighth ninth tenth",
    ),
    (Role::Hour, "am pm o'clock noon"),
    (
        Role::On,
        "on enabled enable allowed allows allow active works required requires open",
    ),
    (
        Role::Off,
        "off disabled disable forbidden denied rejects reject inactive broken skipped refuses closed optional",
    ),
    (Role::Is, "is are"),
    (Role::Definite, "the our my his her their your its"),
    (Role::Indefinite, "a an"),
    (
        Role::Single,
        "wife husband name title version color colour language locale branch port host hostname hosting url address \
         email \
         e-mail domain timezone time_zone zone deadline manager boss lead leader owner maintainer ceo cto cfo \
         president chair headquarters capital currency theme font license licence price budget limit timeout \
         threshold format style indentation encoding edition size age status state phase stage height weight \
         priority level mode region provider vendor database db editor ide browser shell os operating_system \
         linter formatter bundler tracker target employer job doctor dentist bank insurer tariff schedule \
         slogan motto ci framework runtime test_runner build_tool build_system default primary preferred favorite \
         favourite official chosen current",
    ),
    (
        Role::Several,
        "note notes todo todos decision* tool* contact* bug* idea* fact* tip tips hint* link links book* member* \
         feature* hobby hobbies preference* rule* lesson* error* task* person people command* file files topic* \
         question* goal* issue* problem* reason* option* step steps example* guest* winner* author* dependency \
         dependencies library libraries learning* insight* observation* finding* update* warning* item items entry \
         entries event* meeting_notes story stories fix fixes caveat* gotcha* reminder* one_of friend* colleague* \
         neighbor* neighbour* customer* client* participant* stack part parts point points thing things advantage* \
         disadvantage* risk* cause* interest* skill* plugin* test var vars variable* partner* supplier* competitor*",
    ),
    (
        Role::State,
        "*ed *able *ible *ing *ful *less *ous *ive *al *ic slow fast new old big small large good bad long short \
         high low full \
         empty free busy ready broken strict down up fine ok okay late early hard easy cheap safe stable dirty clean \
         hot cold public private online offline live dead here there",
    ),
    (Role::From, "from"),
    (Role::To, "to"),
    (Role::For, "for"),
    (Role::Uses, "use uses used using"),
    (Role::Speaker, "i we"),
    (Role::With, "with"),
    (
        Role::Adds,
        "take takes need needs require requires support supports accept accepts allow allows contain contains read \
         reads eat eats drink drinks wear wears",
    ),
    (Role::Noun, "*er *ers *or *ors *ment *ments *tion *tions"),
    (Role::Status, "status state phase stage mode"),
    (
        Role::Attribute,
        "name title version branch host hostname url address email e-mail domain port age height weight size price \
         status state phase stage owner author doctor dentist wife husband",
    ),
    (
        Role::Person,
        "boss lead leader owner maintainer ceo cto cfo president chair doctor dentist wife husband",
    ),
    (
        Role::Opens,
        "open opens start starts begin begins leave leaves depart departs",
    ),
    (
        Role::Closes,
        "close closes end ends finish finishes arrive arrives land lands",
    ),
];
