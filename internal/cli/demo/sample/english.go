package sample

func newEnglish() *language {
	l := &language{
		grammar: newGrammar(englishWords),
		phrases: &phrases{
			space:    " ",
			synonyms: englishSynonyms,
			leads:    englishLeads,
			credits:  englishCredits,
			more:     "Read more",
		},
		size: wordCount,
		min:  125,
		max:  245,
	}
	l.parse(englishSubjects)
	l.body = l.grammar.parseAll(englishBody)
	l.ends = l.grammar.parseAll(englishEnds)
	l.comments = l.grammar.parseAll(englishComments)
	return l
}

var englishSubjects = []subject{
	{ // transport
		titles: []string{
			"{City} opens {Scheme} after {2-9} years of work",
			"{Scheme} to cut travel times in {City} by {5-40} minutes",
			"{City} council backs {Scheme} along {Street}",
		},
		leads: []string{
			"Commuters in {City} used the long-awaited {Scheme} for the first time {when}, with {1200-9800} passengers counted before noon.",
			"A {Scheme} linking {Street} with {place} opened in {City} {when}, {3-20} months behind schedule but within its budget.",
			"The council in {City} voted {when} to build a {Scheme} along {Street}, ending a debate that began {3-12} years ago.",
		},
		body: []string{
			"Engineers laid {4-38} kilometres of {part} and rebuilt {2-14} junctions so that {vehicle} no longer share the lane with {vehicle}.",
			"Fares will stay at {1.2-4.9} crowns until {season}, after which a weekly pass is to replace the paper ticket.",
			"Shopkeepers on {street} complained of dust and lost trade during the works, and {20-180} of them have asked for compensation.",
			"Each station has {facility}, {facility} and room for {40-360} bicycles, according to the operator.",
			"Drivers have been trained on a simulator for {3-14} weeks, mostly to practise braking in {weather}.",
			"The old terminus near {place} is going to become {newuse}, although residents would have preferred {newuse}.",
			"Early figures suggest that traffic on {street} fell by {4-29} percent in the first {2-6} weeks.",
			"Freight operators warned that {vehicle} would have to make a detour of {3-26} kilometres past {place}.",
		},
	},
	{ // business
		titles: []string{
			"{Firm} to build {Product} plant in {City}",
			"{Firm} unveils {Product} with {trait}",
			"{Firm} and {firm} join forces on {Product}",
		},
		leads: []string{
			"{Firm} said {when} that it would spend {20-900} million on a factory for its {Product} in {City}, creating {80-2400} jobs.",
			"{City} manufacturer {Firm} presented a new {Product} {when}, promising {trait} and a price {5-35} percent below that of rivals.",
			"Two suppliers from {City}, {Firm} and {firm}, agreed {when} to develop a {Product} together over the next {2-7} years.",
		},
		body: []string{
			"The company has tested {30-480} prototypes with {buyer} and found that {trait} mattered more to them than speed.",
			"Revenue rose {3-28} percent last quarter, helped by orders from {buyer} and a weaker market for {material}.",
			"Its chief engineer described {problem} as the hardest part, solved only after {4-30} failed attempts.",
			"Analysts remain cautious because {material} has become {8-60} percent dearer and {buyer} tend to delay purchases.",
			"Production starts in {season} with a single shift of {30-220} people, most of them retrained from {trade}.",
			"A pilot line at the site near {place} already turns out {20-480} units a day with {2-18} robots.",
			"The works council welcomed the plan but asked for guarantees on {worry} and {worry}.",
			"Rival {firm} is expected to answer with a cheaper {Product} made partly of {material} before {season}.",
		},
	},
	{ // weather
		titles: []string{
			"{Weather} disrupts {City} as rivers rise",
			"{City} braces for {Weather} later this week",
			"{Weather} leaves {600-9800} homes in {City} without power",
		},
		leads: []string{
			"{City} was hit by {Weather} {when}, forcing schools around {place} to close and halting ferries for {3-20} hours.",
			"Forecasters issued an amber warning for {Weather} in {City} {when}, the {2-9}th of the season.",
			"Crews worked through the night in {City} after {Weather} brought down {20-300} trees and flooded {Street}.",
		},
		body: []string{
			"Gauges near {place} recorded {40-180} millimetres in {3-12} hours, close to the record set {8-60} years ago.",
			"Firefighters pumped out {20-240} cellars and rescued {animal} stranded beside {street}.",
			"The grid operator restored supply to most customers within {3-16} hours, leaving {40-600} houses on generators.",
			"A meteorologist blamed a slow front that drew moist air over {river} and stalled against the hills.",
			"Growers fear for their {crop}, since the fields below {river} may stay under water for {3-14} days.",
			"Volunteers handed out {food} and blankets at a sports hall, where {60-700} people spent the night.",
			"Train services past {place} resumed at reduced speed once inspectors had checked {3-28} bridges and {part}.",
			"Insurers estimate the damage at {2-90} million, most of it to {vehicle} parked along {street}.",
		},
	},
	{ // farming and food
		titles: []string{
			"Growers around {City} report best {Crop} harvest in {5-30} years",
			"{Crop} farms near {City} turn to {method}",
			"Short supply lifts {Crop} prices in {City}",
		},
		leads: []string{
			"Farmers near {City} have brought in their largest {Crop} harvest for {5-30} years, the growers' union said {when}.",
			"A cooperative outside {City} has switched {40-900} hectares of {Crop} to {method}, hoping to save water.",
			"Wholesale prices for {Crop} in {City} climbed {8-60} percent {when} after a spell of {weather}.",
		},
		body: []string{
			"With {method}, a hectare needs {10-45} percent less water and about {3-20} fewer hours of labour.",
			"Buyers from {trade} now pay {0.5-8.9} crowns a kilo, enough to cover seed, fuel and a new {machine}.",
			"The harvest employs {60-900} seasonal workers, who live in cabins behind {place} until {season}.",
			"Agronomists measured {animal} returning to field margins that had been sown with {plant} {2-7} years earlier.",
			"Some of the crop goes into {food}, which a bakery on {street} sells under its own label.",
			"Pests were fewer than feared, although {weather} in spring delayed flowering by {4-18} days.",
			"A cold store beside {river} will hold {200-4800} tonnes and let growers wait for a better market.",
			"Younger farmers say that {worry} keeps them awake more often than {weather} does.",
		},
	},
	{ // health
		titles: []string{
			"{City} hospital opens {Ward} for evening visits",
			"New {Ward} in {City} shortens waits to {2-9} days",
			"Doctors in {City} warn of rise in {illness}",
		},
		leads: []string{
			"The general hospital in {City} opened a {Ward} {when}, staffed by {4-24} nurses and open until nine in the evening.",
			"Waiting times at the {Ward} in {City} have dropped from {20-80} days to {2-9}, the hospital trust reported {when}.",
			"Doctors at the {Ward} in {City} have seen {10-70} percent more patients with {illness} since {season}.",
		},
		body: []string{
			"A senior nurse advised anyone with {symptom} for more than {3-12} days to call rather than wait for an appointment.",
			"The unit uses {device}, which gives a result in {4-30} minutes and spares patients a second journey.",
			"About {20-65} percent of cases of {illness} are linked to {habit}, a survey of {400-4800} adults found.",
			"Physiotherapists recommend {sport} twice a week and caution against {habit} late in the day.",
			"Funding of {2-28} million came from the region and from a raffle organised by {trade}.",
			"Pharmacies on {street} now stock the treatment, so that patients with {symptom} need not travel to {place}.",
			"Staff tested the layout with cardboard walls first and moved the reception {2-6} times before building began.",
			"The ward plans to train {12-90} carers in using {device} at home by {season}.",
		},
	},
	{ // culture
		titles: []string{
			"{City} museum shows {Relic} never seen before",
			"Restorers in {City} finish work on {Relic}",
			"{City} festival celebrates {Craft} with {20-160} events",
		},
		leads: []string{
			"An exhibition of {Relic} opened in {City} {when}, with {60-600} objects that had been in storage for decades.",
			"After {2-9} years of work, restorers in {City} have returned {Relic} to the gallery near {place}.",
			"A week-long festival of {Craft} began in {City} {when}, drawing makers from {8-40} towns to {Street}.",
		},
		body: []string{
			"Curators arranged the rooms by season, so that visitors walk from {relic} to {relic} as from winter to summer.",
			"Under layers of {dirt} the team found a maker's mark, {material} threads and a list of {20-300} names.",
			"Children can try {craft} at a long table, where {3-12} volunteers help them with {material} and glue.",
			"The catalogue runs to {120-600} pages and took a print shop on {street} {2-9} weeks to produce.",
			"Tickets cost {4-18} crowns, and the museum expects {20-90} thousand visitors before {season}.",
			"One loan, a set of {relic}, travelled in a crate lined with {material} and kept at {12-19} degrees.",
			"Musicians played beside {river} on the first evening, undeterred by {weather}.",
			"A local teacher has written a course on {craft}, which {20-240} pupils will follow from {season}.",
		},
	},
	{ // nature and energy
		titles: []string{
			"{Animal} return to {River} near {City}",
			"{City} switches on {Station} for {8-90} thousand homes",
			"Volunteers plant {2-90} thousand {Plant} around {City}",
		},
		leads: []string{
			"Rangers near {City} have photographed {Animal} on the banks of {River} for the first time in {6-40} years.",
			"A {Station} outside {City} began feeding the grid {when}, enough for {8-90} thousand households.",
			"More than {300-4800} volunteers planted {Plant} along {River} near {City} {when} to hold back erosion.",
		},
		body: []string{
			"Biologists count {animal} every {2-8} weeks from a hide built of {material} and old {part}.",
			"The water has grown clearer since {20-120} workshops upstream of {place} were connected to the sewer.",
			"Output is forecast at {30-900} gigawatt hours a year, with a dip of {10-40} percent during {weather}.",
			"Anglers agreed to leave a stretch of {2-14} kilometres undisturbed while {animal} raise their young.",
			"Contractors carried {part} to the site at night, {12-90} loads in all, to keep {street} open by day.",
			"Roots of {plant} bind the soil within {2-6} years, and the shade keeps {river} cool in summer.",
			"Schools have adopted {8-60} plots each and record {animal}, rainfall and the first leaves of {plant}.",
			"The operator pays {20-300} thousand crowns a year into a fund that has already bought {facility} for the village.",
		},
	},
	{ // sport
		titles: []string{
			"{Team} beat {team} {50-110} to {40-100} in {City}",
			"{City} to host {Sport} finals with {20-160} teams",
			"{Team} sign {sport} coach for {2-5} seasons",
		},
		leads: []string{
			"{Team} came from behind to beat {team} in {City} {when}, taking the {Sport} league to a decider.",
			"The {Sport} finals will be held in {City} from {season}, with {20-160} teams competing at the arena near {place}.",
			"{Team} won the {Sport} cup in {City} {when} before a crowd of {2-28} thousand, their first title in {5-40} years.",
		},
		body: []string{
			"The visitors led by {3-14} points at the break, helped by {fault} and a lucky bounce.",
			"Their captain, back after {4-20} weeks with {symptom}, scored {8-34} points and set up {2-9} more.",
			"The head coach praised the defence but said that {fault} nearly cost the side its lead.",
			"Supporters marched from {place} along {street} behind a brass band and a banner made of {material}.",
			"Next week {Team} travel to meet {team}, who have lost only {1-4} of their last {9-20} matches.",
			"Stalls outside sold {food} faster than the kitchens could deliver, with {600-4800} portions gone by half-time.",
			"The club's academy trains {60-480} children in {sport} and {sport}, and {2-6} of them were on the bench.",
			"Ground staff had covered the arena with straw because of {weather}, removing it {1-3} hours before the start.",
		},
	},
}

// Sentences that fit every subject.
var englishBody = []string{
	"An open day at {place} drew {200-4800} visitors, who left {20-300} written suggestions, most of them about {worry}.",
	"Two advisers from {city} spent {3-20} weeks in {City} and named {strength} as the decisive factor.",
	"Posters along {street} explain the matter in {3-9} languages and give a number to call about {worry}.",
	"Officials in {City} plan to review the results in {season} and to publish them together with the cost.",
	"A similar effort in {city} took {2-8} years and was held back by {worry}, according to a university study.",
	"Of {300-2900} residents questioned by a polling firm, {52-91} percent approved, while {worry} was named most often as a concern.",
	"Local reporters who visited {place} met people who had come all the way from {city} to see for themselves.",
	"The mayor's office called it a matter of patience and pointed to {strength} as the reason for its confidence.",
	"Critics argue that the money would have been better spent on {facility} or on {newuse}.",
	"Much depends on {strength}, a researcher said, and on whether {city} follows the example.",
	"A hearing on {worry} has been set for {season}, when {trade} will also be asked for their view.",
}

var englishEnds = []string{
	"A decision is due in {season}.",
	"Further details will be announced soon.",
	"Work continues until {season}.",
	"The next report appears in {2-9} weeks.",
	"Visitors are asked to arrive early.",
	"No further delays are expected.",
	"The full figures can be read online.",
	"More events follow in {season}.",
}

var englishComments = []string{
	"Went to {place} on the weekend and {opinion}. Still worried about {worry} though.",
	"Honestly {opinion}. When will {city} get something like this?",
	"As someone from {city}: {opinion}, but nobody talks about {worry}.",
	"Good read. My neighbour works in {trade} and says {opinion}.",
	"They promised us {facility} {2-9} years ago and {opinion}.",
	"Does anyone know if {street} stays closed because of this? Then {weather} last night made it worse.",
}

var englishWords = words{
	"city": {
		"Alderport", "Brightwater", "Carrowby", "Dunmere", "Eastholm", "Farrowdale", "Greyhaven", "Hollinford", "Ironbridge Bay", "Juniper Falls",
		"Kestrel Point", "Larchfield", "Millbrook Sands", "Northam Quay", "Oakhollow", "Pennmoor", "Quarrytown", "Ravensleigh", "Saltmarsh", "Thornbury Cross",
		"Umberton", "Valeport", "Westerlea", "Yarrowick",
	},
	"street":  {"Harbour Street", "Mill Lane", "Station Road", "Foundry Row", "Orchard Avenue", "Canal Walk", "Weaver Street", "Chapel Hill", "Granary Lane", "Lighthouse Road", "Tannery Street", "Beech Avenue"},
	"place":   {"the old brewery", "the botanical garden", "the fish market", "the grain docks", "the town library", "the railway museum", "the clock tower", "the east bridge", "the tram depot", "the observatory", "the covered market", "the rowing club"},
	"when":    {"on Monday", "on Tuesday", "on Wednesday", "on Thursday", "on Friday", "on Saturday", "last week", "over the weekend", "early this month", "yesterday"},
	"season":  {"spring", "early summer", "July", "September", "late autumn", "November", "the new year", "March", "the end of May", "mid October"},
	"scheme":  {"tram line", "cycle bridge", "ring tunnel", "night bus network", "river ferry", "park and ride site", "cable car", "suburban railway", "pedestrian zone"},
	"part":    {"rails", "cable", "gravel", "steel girders", "turbine blades", "concrete panels", "signal masts", "copper pipe", "drainage channels"},
	"vehicle": {"lorries", "cyclists", "delivery vans", "buses", "scooters", "tractors", "taxis", "ambulances", "mopeds"},
	"facility": {
		"a drinking fountain", "covered benches", "a repair stand", "public lockers", "a first-aid room", "a reading corner", "charging posts", "a playground",
		"ramps for wheelchairs", "a shared kitchen", "toilets", "a ticket hall with heating",
	},
	"newuse":  {"a winter market", "workshops for apprentices", "a swimming pool", "flats for students", "a concert hall", "allotments", "a day nursery", "an archive", "a climbing centre"},
	"weather": {"freezing fog", "a thunderstorm", "heavy snow", "strong gales", "a heatwave", "hail", "three days of drizzle", "black ice", "a late frost", "a dust storm"},
	"firm": {
		"Aldine Instruments", "Brackwater Logistics", "Copperleaf Systems", "Dovetail Furniture", "Emberline Energy", "Fathom Robotics", "Glasswing Optics", "Harrow Textiles",
		"Inkwell Printing", "Jackdaw Software", "Kelpforth Foods", "Lanternworks", "Marrowstone Cement", "Nettlefold Tools", "Oxbow Shipping", "Plumbline Surveying",
	},
	"product": {
		"harvesting robot", "sodium battery", "weather balloon", "ceramic filter", "folding wheelchair", "heat pump", "loom controller", "hearing aid", "cargo bicycle",
		"laser scanner", "milk analyser", "paper-based packaging", "sonar buoy", "electric ferry engine",
	},
	"trait":    {"a longer life", "quiet running", "simple repairs", "low weight", "spare parts for twenty years", "self-calibration", "half the usual power draw", "a sealed casing", "remote diagnosis"},
	"buyer":    {"hospitals", "shipyards", "dairies", "water boards", "airports", "small farms", "furniture makers", "mining companies", "city councils", "publishers"},
	"material": {"aluminium", "linen", "graphite", "oak", "recycled glass", "wool felt", "brass", "bamboo", "cork", "clay", "canvas", "birch plywood"},
	"problem":  {"vibration at high speed", "sealing the housing", "cooling the motor", "supply of bearings", "noise in the signal", "bonding the layers", "drift of the sensor", "the certification"},
	"trade":    {"the carpet trade", "the canning factory", "the bakers' guild", "the dockworkers' club", "the hotel sector", "the paper mill", "the bus depot", "the flower auction", "the fishing fleet"},
	"worry":    {"rising rents", "the shortage of skilled staff", "night-time noise", "maintenance costs", "a lack of parking", "late payments", "poor signage", "unreliable software", "the distance to school", "dust"},
	"animal":   {"otters", "herons", "kingfishers", "beavers", "lapwings", "salmon", "water voles", "cranes", "dragonflies", "goats", "marsh harriers", "sturgeon"},
	"river":    {"the Lune Water", "the Alder Brook", "the Saffron River", "the Grey Canal", "Lake Wending", "the Marl", "the Tansy Beck", "Heron Mere", "the Corran Estuary"},
	"crop":     {"barley", "plum", "hop", "potato", "rapeseed", "pear", "asparagus", "lentil", "flax", "pumpkin", "cherry", "buckwheat"},
	"food":     {"rye bread", "lentil soup", "plum cake", "smoked trout", "dumplings", "cider vinegar", "oat biscuits", "pickled beets", "mushroom pies", "apple fritters"},
	"method":   {"drip irrigation", "strip cropping", "autonomous weeding", "no-till sowing", "night-time picking", "satellite mapping", "mixed rows", "winter cover crops"},
	"machine":  {"baler", "seed drill", "sorting belt", "tractor", "cold press", "sprayer", "grain dryer"},
	"plant":    {"willows", "alders", "clover", "wild thyme", "reeds", "hawthorn", "black poplars", "cornflowers", "sea buckthorn", "marram grass"},
	"ward":     {"sleep clinic", "eye unit", "fracture ward", "allergy clinic", "rehabilitation centre", "diabetes clinic", "hearing centre", "skin clinic", "travel medicine unit"},
	"illness":  {"hay fever", "tendonitis", "insomnia", "migraine", "back pain", "asthma", "dry eyes", "shingles", "tinnitus"},
	"symptom":  {"a stiff neck", "blurred vision", "a persistent cough", "numb fingers", "swollen ankles", "dizziness", "a sore knee", "a rash", "ringing ears"},
	"device":   {"a portable scanner", "a breath analyser", "a motion sensor", "an infrared camera", "a voice recorder", "a pressure mat", "a pocket microscope"},
	"habit":    {"sitting for hours", "late meals", "bright screens", "skipping breakfast", "loud headphones", "too little water", "heavy lifting", "salty snacks"},
	"sport":    {"handball", "rowing", "table tennis", "volleyball", "fencing", "climbing", "badminton", "water polo", "korfball", "basketball"},
	"team":     {"Alderport Gulls", "Dunmere Foxes", "Farrowdale Rams", "Greyhaven Mariners", "Larchfield Owls", "Oakhollow Badgers", "Pennmoor Comets", "Saltmarsh Herons", "Valeport Anchors", "Westerlea Storm"},
	"fault":    {"careless passing", "two missed penalties", "slow substitutions", "a muddle in defence", "poor service", "tired legs", "an early booking", "a misread signal"},
	"relic":    {"copper engravings", "ship models", "painted chests", "clock movements", "church bells", "glass negatives", "fishing charts", "tapestries", "toy theatres", "tide tables", "carved masks", "travelling desks"},
	"craft":    {"basket weaving", "letterpress printing", "stone carving", "boat building", "glass blowing", "lace making", "bookbinding", "paper cutting", "indigo dyeing"},
	"dirt":     {"soot", "varnish", "candle wax", "lime plaster", "rust", "tobacco stain", "mildew"},
	"station":  {"tidal plant", "wind park", "solar farm", "biogas works", "geothermal well", "pumped storage lake", "heat store"},
	"strength": {"steady funding", "a willing neighbourhood", "open data", "good rail links", "an experienced crew", "cheap land", "the support of local shops", "a simple design", "its harbour"},
	"opinion":  {"it was better than I expected", "it looks half finished", "the queue was endless", "my kids loved it", "I am impressed", "it costs far too much", "the staff were lovely", "we could have had this years ago", "nobody asked us"},
}

// englishSynonyms are words of the sentences above and what may stand for them.
var englishSynonyms = [][2]string{
	{" began ", " started "},
	{" about ", " around "},
	{" helped by ", " aided by "},
	{" found ", " discovered "},
	{" said that ", " stated that "},
	{" near ", " close to "},
	{" although ", " though "},
	{" percent", " per cent"},
	{" because ", " since "},
	{" already ", " by now "},
	{" visitors ", " guests "},
	{" described ", " portrayed "},
	{" residents ", " inhabitants "},
	{" people ", " persons "},
	{" together ", " jointly "},
	{" announced ", " made public "},
	{" soon.", " shortly."},
	{" million", "m"},
	{" within ", " inside "},
	{" hoping ", " aiming "},
	{" now ", " currently "},
	{" expected to ", " likely to "},
	{" fell by ", " dropped by "},
	{" warned ", " cautioned "},
	{" similar ", " comparable "},
	{" money ", " funds "},
	{" depends on ", " hinges on "},
	{" publish ", " release "},
	{" approved", " were in favour"},
	{" employs ", " gives work to "},
}

var englishLeads = []string{
	"This story has been updated.", "From our regional desk.", "In brief:", "Here is what we know so far.", "Reported by our staff.",
}

var englishCredits = []string{
	"Source: %s", "First published on %s.", "Additional reporting by %s", "(Edited by %s)", "All rights reserved, %s.",
}
