//! French.

use super::{Role, Rows};

pub(super) const ROWS: Rows = &[
    (
        Role::Function,
        "le la les l un une des du de d au aux a dans en sur sous par pour avec sans chez entre vers et ou mais donc \
         or ni car \
         que qu qui quoi dont ou ce cet cette ces c s se sa son ses leur leurs mon ma mes ton ta tes notre nos votre \
         vos il \
         elle ils elles on nous vous je j tu y lui eux n ne pas plus tout tous toute toutes tres deja encore aussi \
         si afin \
         jusqu comme quand lors la_bas maintenant",
    ),
    (
        Role::Copula,
        "est sont suis sommes ai avons as avez etait etaient sera seront ete a ont avait avaient fut peut peuvent \
         doit doivent",
    ),
    (
        Role::Verb,
        "habit* travaill* utilis* tourne* deploi* heberg* stock* coute* commenc* demarr* redemarr* lieu part_a \
         partent arrive* prend \
         prennent mange* boi* appelle* appartient suit suivent mesure* pese* vit vivent fait font mis ecrit \
         ecrits redige* developp* construit chiffre* limit* ouvre ferme dure* se_trouve loge* reside* compte* roule* \
         etudi*",
    ),
    (
        Role::BeforeNoun,
        "pour de du des le la les l un une a au aux sur en",
    ),
    (
        Role::Holds,
        "responsable_de en_charge charge_de chargee_de dirige gere pilote anime",
    ),
    (
        Role::Many,
        "aime* adore* deteste* allergique parle* achet* visit* connai* abonne* ont",
    ),
    (
        Role::Past,
        "etait etaient fut lu vu rencontre prepare achete couru paye alle allee",
    ),
    (
        Role::End,
        "ne~plus n~plus supprime* resili* annul* ferme_definitivement retire* arret* abandonn* remplac* vendu* \
         quitt* cess* desinstall* termine* desactiv* interdit* fini* demissionn* dissou* separe* renonce* obsolete* \
         perime* \
         ancien ancienne plus_besoin ni_plus mort decede* personne_ne debranche* jete* revoque*",
    ),
    (
        Role::Before,
        "plutot_qu plutot_que au_lieu_de au_lieu_d au_lieu a_la_place_de remplace",
    ),
    (
        Role::Change,
        "demenag* change* pass* bascul* migr* deplac* report* repouss* avanc* augment* baiss* diminu* rallong* \
         prolong* \
         renomm* repri* remplac* mis_a_jour reecri* converti* devenu* devient transfer* modifi* corrig* double*",
    ),
    (
        Role::Now,
        "maintenant desormais depuis dorenavant actuellement nouveau nouvelle nouvel a_present a_partir_de \
         aujourd'hui a_compter_du",
    ),
    (Role::Move, "demenag* installe*"),
    (
        Role::Live,
        "habit* vit vivent reside* loge* adresse est_a est_au est_dans est_en est_chez",
    ),
    (Role::Not, "pas aucun aucune jamais sans ni rien non"),
    (Role::None, "aucun aucune"),
    (Role::Pronoun, "je j nous il elle ils elles on"),
    (
        Role::Bounded,
        "si pendant sauf cette_semaine hier demain lundi_dernier mardi_dernier mercredi_dernier jeudi_dernier \
         vendredi_dernier samedi_dernier dimanche_dernier jusqu exceptionnellement temporairement une_fois tant \
         lors durant",
    ),
    (Role::Relative, "qui que dont"),
    (
        Role::Repeated,
        "chaque tous_les toutes_les automatiquement regulierement",
    ),
    (Role::Also, "aussi egalement en_plus en_outre"),
    (
        Role::Kin,
        "frere* soeur* mere pere parents fils fille cousin cousine oncle tante neveu niece mari femme_de voisin* \
         collegue* \
         ami amie belle-mere beau-pere mamie papi adjoint*",
    ),
    (Role::User, "utilisateur utilisatrice"),
    (Role::Joint, "et mais car donc qui"),
    (
        Role::Weekday,
        "lundi* mardi* mercredi* jeudi* vendredi* samedi* dimanche*",
    ),
    (
        Role::Month,
        "janvier fevrier mars avril mai juin juillet aout septembre octobre novembre decembre",
    ),
    (
        Role::Number,
        "deux trois quatre cinq six sept huit neuf dix onze douze",
    ),
    (
        Role::Ordinal,
        "premier premiere deuxieme second seconde troisieme quatrieme",
    ),
    (Role::Hour, "h heure heures"),
    (
        Role::On,
        "active actif activee autorise autorisee permis possible",
    ),
    (
        Role::Off,
        "desactive desactivee inactif interdit interdite impossible",
    ),
    (Role::Is, "est sont"),
    (
        Role::Definite,
        "le la les l notre nos mon ma mes son sa ses leur leurs",
    ),
    (Role::Indefinite, "un une"),
    (
        Role::Single,
        "mari epouse nom titre version couleur langue branche port hote hebergement hebergeur url adresse courriel \
         email \
         domaine fuseau echeance chef cheffe patron patronne responsable manager directeur directrice proprietaire \
         capitale devise monnaie theme police licence prix budget limite delai seuil format style indentation \
         encodage edition taille age statut etat phase priorite niveau mode region fournisseur base_de_donnees \
         editeur navigateur shell systeme_d_exploitation linter formateur gestionnaire employeur metier medecin \
         dentiste banque assureur forfait salle defaut principal principale prefere preferee favori \
         favorite officiel officielle",
    ),
    (
        Role::Several,
        "note notes todo decision* outil* contact* bug* idee* fait faits conseil* astuce* lien liens livre* \
         membre* fonctionnalite* loisir* preference* regle* lecon* erreur* tache* personne personnes commande* \
         fichier* sujet* question* objectif* probleme* raison* option* etape* exemple* invite* gagnant* auteur* \
         dependance* bibliotheque* constat* avertissement* point points evenement* l_un_des l_une_des un_des \
         une_des ami amie amis collegue* client* participant* avantage* inconvenient* risque* cause*",
    ),
    (
        Role::State,
        "*able *ible *ante *ee *euse *eux lent lente rapide nouveau nouvelle vieux vieille grand grande petit \
         petite bon bonne mauvais mauvaise long longue court courte haut haute bas basse plein pleine vide libre \
         pret prete casse stable public publique prive protege ferme ouvert ouverte bruyant bruyante chaud chaude \
         froid froide la ici",
    ),
    (Role::From, "de du d"),
    (Role::To, "a au aux vers"),
    (Role::For, "pour"),
    (Role::Uses, "utilis*"),
    (Role::Speaker, "je j nous on"),
    (Role::With, "avec"),
    (Role::Adds, "prend prennent mange* boi*"),
    (Role::Status, "statut etat phase mode"),
    (
        Role::Attribute,
        "nom titre version branche hote url adresse courriel email domaine port age taille prix statut etat phase \
         proprietaire medecin dentiste mari epouse",
    ),
    (
        Role::Person,
        "chef cheffe patron patronne responsable directeur directrice proprietaire medecin dentiste mari epouse",
    ),
    (
        Role::Opens,
        "ouvre ouvrent commence commencent part partent",
    ),
    (
        Role::Closes,
        "ferme ferment finit finissent arrive arrivent",
    ),
];
