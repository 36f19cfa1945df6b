"""Small talk from a grammar of our own: first-person notes, replies and questions as people say them.

No corpus stands behind it, so nothing has to be licensed. The teacher says what each sentence means;
the grammar only has to bring everyday words together in many ways. A second part puts every whole
word of the vocabulary into a few plain frames, so that rare rows are fitted at all."""
import random
import re

SLOTS = {
    "name": """Alice Amir Anna Ben Bruno Carla Chen Clara Daniel Diego Elena Emma Eric Fatima Felix Grace Hana
        Hannah Igor Ines Ivan Jack Jake Jonas Julia Kai Karen Kofi Laura Leo Lily Lucas Luis Maria Marco Mia Mike
        Mina Nadia Nina Noah Olga Omar Oscar Paul Peter Priya Rosa Ruth Ryan Sara Simon Sofia Tara Theo Tom Uma Victor
        Wei Yuki Zoe""".split(),
    "rel": """my sister|my brother|my mom|my dad|my wife|my husband|my son|my daughter|my grandma|my grandpa|my aunt|
        my uncle|my cousin|my best friend|my roommate|my neighbor|my boss|my coworker|my girlfriend|my boyfriend|
        my partner|my kids|my parents|my niece|my nephew|an old friend|a friend from school|my teacher|my coach|
        my therapist|my landlord|the whole family""".split("|"),
    "when": """yesterday|last night|this morning|last week|last weekend|two weeks ago|last month|last year|last summer|
        a few days ago|on Monday|on Friday|last Tuesday|in March|in July 2021|in the fall|over the holidays|
        three years ago|the other day|on my birthday|before Christmas|when I was a kid|back in college|in 2019|
        on May 7, 2023|at the end of August""".split("|"),
    "soon": """tomorrow|tonight|next week|next month|this weekend|on Saturday|next summer|in two weeks|soon|in June|
        next year|after work|in the spring|on Thursday evening|by the end of the month|later today""".split("|"),
    "did": """went hiking|went camping by the lake|went to a concert|visited the museum|cooked dinner together|
        watched a movie|played board games|went swimming|took a pottery class|painted a sunset|planted tomatoes|
        ran a half marathon|went to the beach|saw a play downtown|went shopping for clothes|baked bread|
        played tennis|went fishing|had a picnic in the park|tried a new restaurant|went for a long walk|
        rode our bikes along the river|volunteered at the animal shelter|built a bookshelf|fixed the car|
        moved into a new apartment|adopted a puppy|joined a book club|started guitar lessons|went to a wedding|
        threw a birthday party|took the train to the coast|visited the grandparents|played video games all night|
        went to yoga|joined a support group|gave a speech at school|won a dance competition|signed a contract|
        opened a small shop|flew to Japan|went skiing in the mountains|donated old clothes|practiced the violin|
        wrote a short story|finished a painting|had a job interview|went to the dentist|broke a leg|
        caught a terrible cold|lost the keys|repaired the roof|cleaned out the garage""".split("|"),
    "doing": """hiking|running|painting|pottery|reading mystery novels|playing the piano|playing basketball|cooking|
        gardening|photography|swimming|yoga|meditation|dancing|writing poetry|learning Spanish|woodworking|
        playing chess|camping|fishing|surfing|knitting|drawing|singing in a choir|volunteering|traveling|
        collecting records|bird watching|rock climbing|cycling|baking|watching old films|playing video games|
        coding small apps|restoring old cars|making jewelry|studying for exams|working out|skiing|sailing|
        teaching kids|taking care of my plants|designing websites|blogging|streaming games|martial arts""".split("|"),
    "feel": """happy|proud|nervous|tired|excited|sad|relieved|grateful|stressed|lonely|inspired|anxious|calm|angry|
        disappointed|hopeful|overwhelmed|confident|jealous|bored|embarrassed|surprised|scared|peaceful|
        motivated|worn out|homesick|frustrated|loved|curious|guilty""".split("|"),
    "thing": """a new car|a red bicycle|a used laptop|an old guitar|a pair of running shoes|a camera|a puppy|a kitten|
        a blue dress|a necklace|a painting|a stuffed animal|a cookbook|a tent|a house|a piano|a phone|a ring|
        a fish tank|a drum kit|a sewing machine|a watch|a bouquet of flowers|a bowl made of clay|a plant|
        a leather jacket|a coffee machine|a board game|a telescope|a sofa|a pair of headphones|a book about stars|
        a journal|a helmet|a desk lamp|a turtle|tickets for the show|a birthday cake|a fantasy novel""".split("|"),
    "food": """pizza|sushi|pasta|pancakes|chocolate cake|curry|tacos|salad|grilled fish|vegetable soup|ice cream|
        apple pie|fried rice|dumplings|roast chicken|homemade bread|lasagna|cookies|smoothies|green tea|
        strong coffee|red wine|coconut milk|strawberries|cheese|noodles|mushrooms|peanut butter""".split("|"),
    "place": """Paris|Rome|London|Tokyo|New York|Chicago|Seattle|Boston|Barcelona|Berlin|Toronto|Dublin|Lisbon|
        Istanbul|Mumbai|Sydney|Mexico City|California|Florida|Sweden|Canada|Spain|Italy|Ireland|Kenya|Brazil|
        the mountains|the beach|the countryside|the national park|the city|the desert|an island|the old town|
        the library|the gym|the hospital|the office|the zoo|the farmers market|the community center|the studio|
        the stadium|the airport|the church|the museum|the art gallery|the shelter""".split("|"),
    "pet": """dog|cat|hamster|parrot|rabbit|turtle|horse|goldfish|guinea pig|snake|puppy|kitten|golden retriever|
        lizard|chicken|pony""".split("|"),
    "pname": "Biscuit Max Luna Bailey Oliver Daisy Rocky Coco Shadow Pepper Milo Ginger Toby Bella Oreo Buddy".split(),
    "job": """nurse|teacher|software engineer|carpenter|chef|lawyer|counselor|designer|waiter|driver|doctor|writer|
        photographer|accountant|mechanic|musician|actor|scientist|farmer|pilot|police officer|firefighter|
        social worker|librarian|barista|dancer|sales manager|football player|psychologist|plumber|journalist|
        streamer|director|veterinarian|architect|electrician""".split("|"),
    "topic": """adoption|mental health|climate change|politics|school|money|the move|the wedding|art|music|faith|
        education|the project|the budget|family|friendship|the new job|gender identity|the army|sports|science|
        cooking|the election|the exam|the trip|health insurance|video games|the movie|the diet|volunteering|
        the accident|the divorce|retirement|the garden|the business|the loan|the tournament""".split("|"),
    "good": """wonderful|awesome|great|amazing|fun|beautiful|hard|scary|boring|terrible|exhausting|delicious|
        expensive|relaxing|important|strange|inspiring|loud|easy|worth it|a lot of work|unforgettable""".split("|"),
    "yes": """Wow|Oh|Yeah|Thanks|Sure|Hey|Great|Aww|Haha|Cool|No way|Definitely|Congrats|Sounds good|Well|Hmm|
        That's great|Oh no|Sorry to hear that|Good to hear|Totally|Of course|By the way|Nice""".split("|"),
    "sys": """the database|the web server|the payment service|the login page|the build|the test suite|the mobile app|
        the API gateway|the cache|the search index|the message queue|the backup job|the CI pipeline|
        the load balancer|the config file|the migration|the cluster|the scheduler|the parser|the billing worker|
        the staging server|the dashboard|the command line tool|the Docker image|the release branch""".split("|"),
    "tech": """PostgreSQL|Redis|Kafka|Rust|Python|TypeScript|React|Docker|Kubernetes|SQLite|nginx|GraphQL|gRPC|
        Terraform|Django|Go|Java|MySQL|MongoDB|Linux|Git|WebAssembly|OAuth|JSON|YAML|protobuf|Prometheus""".split("|"),
    "fault": """times out|crashes on startup|returns an error 500|leaks memory|is slow under load|fails to connect|
        loses messages|runs out of disk space|refuses the token|hangs forever|prints a stack trace|
        returns stale data|deadlocks|drops the connection|cannot be reached|uses too much CPU|ignores the flag|
        breaks on empty input|rejects valid dates|writes the file twice""".split("|"),
    "fix": """raise the timeout|add a retry with exponential backoff|roll back the release|add an index|
        pin the version|restart the service|rotate the API key|clear the cache|increase the pool size|
        validate the input|move it to a background job|use a lock|write a regression test|turn off the feature flag|
        upgrade the library|split the table|stream the response|compress the logs|switch to async|
        store the times in UTC|run the migration first|drop the old column""".split("|"),
    "num": "two three four five six seven ten twelve 15 20 30 40 100 1,000".split(),
}
FRAMES = """
{name} and I {did} {when}.
{when}, {rel} and I {did}.
I {did} with {rel} {when}, and it was {good}.
{yes}! I {did} {when}. It was so {good}!
{yes}, {name}! How was it when you {did}?
{name}: I {did} {when} and I felt so {feel}.
{name}: {yes}! {rel} {did} {when}.
{name}: {yes}, that sounds {good}. Do you like {doing} too?
When did {name} say that {rel} {did}?
Who {did} {when}?
Where did you go when you {did}?
What did {name} do {when}?
What does {name} like to do to relax?
Does {name} enjoy {doing}?
How long has {name} been {doing}?
Why did {name} feel {feel} {when}?
What is the name of the {pet}?
What kind of pet does {name} have?
Our {pet} is called {pname}.
{name}'s {pet} {pname} loves {food}.
We have had {pname}, our {pet}, for {num} years now.
{pname} ran away {when}, but {rel} found the {pet} near {place}.
I got {thing} from {rel} {when}.
{name} gave me {thing} for my birthday.
{rel} bought {thing} at {place} {when}.
What did {name} buy at {place}?
What did {rel} give {name}?
I'm saving money to buy {thing} {soon}.
I'm thinking about {doing} more {soon}.
{doing} always makes me feel {feel}.
I've been into {doing} for {num} years, and it helps me with {topic}.
{doing} is {good}, don't you think?
Do you have any plans for {soon}?
I'm going to {place} with {rel} {soon}.
We moved from {place} to {place} {num} years ago.
{name} lives in {place} and works as a {job}.
{name} wants to become a {job}.
I used to be a {job} in {place}.
What does {name} do for a living?
Where does {rel} work now?
{rel} quit the job as a {job} {when} because it was {good}.
{name} is looking for work as a {job} in {place}.
My favorite food is {food}, but {rel} prefers {food}.
We made {food} and {food} for {rel} {when}.
I can't eat {food}, it makes me sick.
{name} is allergic to {food}.
What is {name}'s favorite food?
How did {name} feel about {topic}?
I talked with {rel} about {topic} {when}.
{name} cares a lot about {topic}.
{topic} has been {good} for me lately.
I feel {feel} when I think about {topic}.
{yes}, I'm so {feel} for you!
{yes}! What made you start {doing}?
{yes}, {name}. You should be {feel}. How is {rel} doing?
What's new with you? How have you been since {topic}?
It's been a while! {rel} and I {did} {when}.
Remember to call {rel} {soon} about {topic}.
Please remind me {soon} to buy {food} and {food}.
I have an appointment at {place} {soon} at {num} o'clock.
{name} will be {num} years old {soon}.
{name} has {num} children and a {pet} named {pname}.
{name} got married to a {job} from {place} {when}.
The user prefers {food} over {food} and likes {doing}.
The user said that {rel} is a {job} in {place}.
The user asked to keep answers short and to use {tech}.
The photo shows {name} and {rel} at {place} with {thing}.
a photo of {thing} on a table
a photo of a {pet} sitting next to {thing}
a photo of a group of people at {place}
I took this picture in {place} {when}.
This book about {topic} was {good}, I finished it {when}.
The movie was {good}, and the music made me {feel}.
Have you ever been to {place}? I went there {when}.
{name} won {num} games in the tournament {when}.
{sys} {fault}.
{sys} {fault} since we moved to {tech}.
To fix it, {fix}.
When {sys} {fault}, {fix} and tell {name}.
We decided to {fix} because {sys} {fault}.
Why does it happen that {sys} {fault}?
What do we do when {sys} {fault}?
How did we fix it when {sys} {fault}?
{name} decided {when} that {sys} is written in {tech}.
{sys} stores its data in {tech}, and {name} owns it.
What does {sys} use, {tech} or {tech}?
Which of them is faster, {tech} or {tech}?
We chose {tech} over {tech} for {sys}.
We replaced {tech} with {tech} {when}.
Never forget to {fix} before you deploy {sys}.
Deploys of {sys} happen {soon}; ask {name} first.
The team agreed to {fix} {soon}.
Who is responsible for {sys}?
What did we decide about {sys} and {tech}?
The port of {sys} is 80{num} and the user is {name}.
{sys} needs {num} GB of memory and runs on {tech}.
TODO: {fix} in {sys}.
Fixed: {sys} {fault} when {tech} is not installed.
The customer from {place} says that {sys} {fault}.
The meeting about {sys} is {soon} at {num}.
""".strip().split("\n")
WORDS = """
We talked about {w} again last night.|Do you know what {w} means?|I read something about {w} yesterday.|
{name} asked me about {w}.|The question was about {w} and nothing else.|It said {w} on the box.|
I like the word {w}.|Is it {w} or {w2}?|{w} and {w2} are not the same.|She wrote {w} in her notes.|
He mentioned {w}, {w2} and {w3} in one sentence.|The title is "{w} {w2}".|Please look up {w} for me.|
{w} {w2} {w3} {w4}|what is {w} and how does it work|tell me about {w} and {w2}
""".replace("\n", "").split("|")


def talk(count: int, seed: int) -> list[str]:
    rng = random.Random(seed)
    slots = {k: [" ".join(v.split()) for v in vs] for k, vs in SLOTS.items()}
    out = {}
    while len(out) < count:
        frame = rng.choice(FRAMES)
        text = re.sub(r"\{(\w+)\}", lambda m: rng.choice(slots[m[1]]), frame)
        if rng.random() < 0.15:
            text += " " + re.sub(r"\{(\w+)\}", lambda m: rng.choice(slots[m[1]]), rng.choice(FRAMES))
        out[text if rng.random() < 0.3 else text[0].upper() + text[1:]] = None
    return list(out)


def frames(vocabulary: list[str], each: int, seed: int) -> list[str]:
    """`each` sentences for every whole word of the vocabulary."""
    rng = random.Random(seed)
    words = [w for w in vocabulary if w.isalpha() and w.isascii() and len(w) > 2]
    out = {}
    for w in words:
        for _ in range(each):
            text = rng.choice(WORDS).replace("{name}", rng.choice(SLOTS["name"]))
            text = text.replace("{w}", w)
            out[re.sub(r"\{w\d\}", lambda _: rng.choice(words), text)] = None
    return list(out)
