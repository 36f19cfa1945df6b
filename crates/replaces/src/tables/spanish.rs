//! Spanish.

use super::{Role, Rows};

pub(super) const ROWS: Rows = &[
    (
        Role::Function,
        "el la los las lo un una unos unas de del a al en con sin por para sobre entre desde hasta hacia segun y e o \
         u pero \
         porque que quien cual como donde cuando se su sus mi mis tu tus nuestro nuestra nuestros le les nos me te \
         ella ellos \
         ellas este esta estos estas ese esa eso no ni si ya muy mas tambien todo toda todos todas otro otra ahora \
         sino solo \
         cada ninguna ninguno mismo misma",
    ),
    (
        Role::Copula,
        "es son era eran fue fueron sera ha han he hemos habia esta estan estaba ser sido tiene tienen tenia puede \
         pueden debe deben",
    ),
    (
        Role::Verb,
        "viv* trabaj* usa usan usamos uso utiliz* corre desplieg* despleg* aloj* guard* cuesta cuestan empiez* \
         comienz* sale salen llega llegan toma toman \
         come comen bebe llama pertenec* encarga mide pesa conduce apunta apuntan registr* comunic* hace \
         dura compil* abre cierra lleva necesit* queda estudi*",
    ),
    (
        Role::BeforeNoun,
        "para de del el la los las un una en con por",
    ),
    (
        Role::Holds,
        "responsable_de encargado encargada dirige lidera gestiona coordina",
    ),
    (
        Role::Many,
        "gusta gustan encanta odia alergic* habla hablan compr* visit* conoce tiene tienen",
    ),
    (
        Role::Past,
        "fue fueron era eran leyo vio nado corrio compro pago comio llego viajo",
    ),
    (
        Role::End,
        "ya_no ya_nadie nadie elimin* cancel* cerr* retir* abandon* reemplaz* sustituy* vendi* dej* termin* acab* \
         desinstal* desactiv* prohibi* jubil* dimiti* separ* divorci* obsolet* antigu* revoc* borr* quit* suprimi* \
         caduc* \
         dado_de_baja baja",
    ),
    (
        Role::Before,
        "en_lugar_de en_vez_de en_lugar en_vez reemplaza sustituye",
    ),
    (
        Role::Change,
        "mud* cambi* pas* migr* traslad* aplaz* adelant* retras* subi* sube baj* aument* reduj* reduc* ampli* prorrog* \
         renombr* asumi* reemplaz* sustitu* actualiz* convirti* convertid* qued* modific* corrig* corregid* anadi* \
         volvi*",
    ),
    (
        Role::Now,
        "ahora desde actualmente hoy_en_dia a_partir_de nuevo nueva ultimamente de_ahora_en_adelante ya",
    ),
    (Role::Move, "mud* traslad*"),
    (
        Role::Live,
        "vive viven vivo vivimos vivia reside direccion domicilio esta_en estan_en",
    ),
    (Role::Not, "no ningun ninguna ninguno nunca sin nada ni"),
    (Role::None, "ningun ninguna"),
    (Role::Pronoun, "yo nosotros el ella ellos se"),
    (
        Role::Bounded,
        "durante salvo excepto esta_semana hoy manana ayer lunes_pasado martes_pasado miercoles_pasado jueves_pasado \
         viernes_pasado sabado_pasado domingo_pasado hasta temporalmente excepcionalmente \
         una_vez mientras",
    ),
    (Role::Relative, "que quien quienes"),
    (Role::Repeated, "cada todos_los todas_las automaticamente"),
    (Role::Also, "tambien ademas asimismo"),
    (
        Role::Kin,
        "hermano* hermana* madre padre padres hijo hija primo prima tio tia sobrino sobrina marido esposa vecino* \
         vecina* \
         colega* amigo amiga suegra suegro abuela suplente",
    ),
    (Role::User, "usuario usuaria"),
    (Role::Joint, "y pero porque sino aunque"),
    (
        Role::Weekday,
        "lunes martes miercoles jueves viernes sabado* domingo*",
    ),
    (
        Role::Month,
        "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
    ),
    (
        Role::Number,
        "dos tres cuatro cinco seis siete ocho nueve diez once doce",
    ),
    (
        Role::Ordinal,
        "primer primero primera segundo segunda tercer tercera cuarto",
    ),
    (Role::Hour, "h horas"),
    (
        Role::On,
        "activo activa activado activada permitido permitida",
    ),
    (
        Role::Off,
        "desactivado desactivada inactivo prohibido prohibida",
    ),
    (Role::Is, "es son"),
    (
        Role::Definite,
        "el la los las mi mis nuestro nuestra nuestros nuestras su sus",
    ),
    (Role::Indefinite, "un una"),
    (
        Role::Single,
        "marido esposa nombre titulo version color idioma lengua rama puerto host alojamiento proveedor url \
         direccion correo \
         dominio zona_horaria plazo fecha_limite jefe jefa gerente director directora responsable dueno duena \
         propietario capital moneda tema fuente licencia precio presupuesto limite umbral formato estilo sangria \
         codificacion edicion tamano edad estado fase prioridad nivel modo region base_de_datos editor navegador \
         shell sistema_operativo linter formateador gestor empleador trabajo medico dentista banco seguro tarifa \
         lema sala defecto principal preferido preferida favorito favorita oficial predeterminado \
         predeterminada",
    ),
    (
        Role::Several,
        "nota notas decision* herramienta* contacto* error* idea* hecho* consejo* enlace* libro* miembro* \
         funcion funciones aficion* preferencia* regla* leccion* tarea* persona personas comando* archivo* \
         pregunta* objetivo* problema* razon* opcion* paso pasos ejemplo* invitado* ganador* autor* dependencia* \
         biblioteca* observacion* aviso* punto puntos evento* uno_de una_de amigo* amiga* colega* cliente* \
         participante* ventaja* desventaja* riesgo* causa* bug bugs",
    ),
    (
        Role::State,
        "*able *ible *ado *ada *ido *ida *oso *osa lento lenta rapido rapida nuevo nueva viejo vieja grande \
         pequeno pequena bueno buena malo mala largo larga corto corta alto alta bajo baja lleno llena vacio vacia \
         libre listo lista roto rota estable publico publica privado abierto abierta ruidoso caliente frio fria \
         aqui",
    ),
    (Role::From, "de del"),
    (Role::To, "a al"),
    (Role::For, "para"),
    (Role::Uses, "usa usan usamos uso utiliz*"),
    (Role::Speaker, "yo nosotros"),
    (Role::With, "con"),
    (Role::Adds, "toma toman come comen bebe necesit*"),
    (Role::Status, "estado fase modo"),
    (
        Role::Attribute,
        "nombre titulo version rama host url direccion correo dominio puerto edad tamano precio estado fase dueno \
         duena propietario medico dentista marido esposa",
    ),
    (
        Role::Person,
        "jefe jefa gerente director directora responsable dueno duena propietario medico dentista marido esposa",
    ),
    (
        Role::Opens,
        "abre abren empieza empiezan comienza comienzan sale salen",
    ),
    (
        Role::Closes,
        "cierra cierran termina terminan acaba acaban llega llegan",
    ),
];
