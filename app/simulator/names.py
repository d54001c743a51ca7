"""Invented names, in several scripts and lengths. No real person, company or place is meant."""

FIRST_NAMES = (
    "Anneliese", "Bram", "Chloé", "Dagný", "Émile", "Fiadh", "Gökçe", "Hüseyin", "Iñaki", "Jiří", "Łucja", "Maëlys",
    "Ngọc Ánh", "Øyvind", "Paulo", "Quỳnh", "Renée", "Siobhán", "Tomáš", "Ümit", "Vésteinn", "Wiebke", "Xoán", "Ylva",
    "Zoë", "Ada", "Ben", "Cleo", "Dov", "Elif", "Finn", "Gia", "Hana", "Ivo", "Juno", "Kofi", "Lina", "Miro", "Nia",
    "Otis", "Pia", "Rafi", "Suna", "Theo", "Uma", "Vito", "Wren", "Yara", "Zeno",
    "Анастасия", "Борис", "Ελένη", "Νίκος", "ليلى", "يوسف", "נועה", "美咲", "大翔", "小明", "지우", "สมชาย", "अर्जुन",
    "Maria-Magdalena Wilhelmina Henriette", "Jean-Baptiste-Alphonse",
)  # fmt: skip

LAST_NAMES = (
    "Ahornblatt", "Brückenfuß", "Castanheira-Bela", "Drakenvisser", "Ébouriffé", "Færgemann", "Glöckchen", "Haarspange",
    "Ísdrottning", "Jezioranka", "Křemílek", "Lindenblatt", "Møllehjul", "Nußknacker", "O’Clockmore", "Pěnkavová",
    "Quittenbaum", "Regenschirm", "Şemsiye", "Tintenfass", "Überzieher", "Vogelscheuche", "Wolkenschieber",
    "Ximénez-Río",
    "Yıldızlı", "Zwiebelturm", "Applewhistle", "Bellweather", "Copperkettle", "Dapplegrove", "Evermint", "Fernhollow",
    "Gladwater", "Hazelbrook", "Inkwell", "Jumblestone", "Kettlewick", "Larkspur", "Mossbridge", "Nettlefield",
    "Oakhammer", "Puddlefoot", "Quillfeather", "Rumblethorpe", "Silverspoon", "Thistledown", "Umberfield", "Velvetine",
    "Иванушкина", "Снегурочкин", "Καλοκαίρης", "الغيمة", "בן-ענן", "星野谷", "月見里", "云中鹤", "구름산", "ใจเย็น",
    "बादलवाला",
    "van den Allerlangste-Achternaamstraat tot Overmorgen", "Freiherr von und zu Uhrwerk-Zeigerstein",
)  # fmt: skip

DEPARTMENTS = (
    ("HQ", "Tick & Tock Works", None),
    ("PROD", "Production", "HQ"),
    ("PRODA", "Assembly line A", "PROD"),
    ("PRODB", "Assembly line B – Gehäuse & Zeiger", "PROD"),
    ("LOG", "Logistics", "HQ"),
    ("NIGHT", "Night dispatch", "LOG"),
    ("OFF", "Office", "HQ"),
    ("HR", "People & Culture", "OFF"),
    ("IT", "IT / 情報システム", "OFF"),
    ("CARE", "Canteen and Grünpflege", "HQ"),
)

POSITIONS = (
    ("DIR", "Director", None),
    ("LEAD", "Team lead", "DIR"),
    ("SPEC", "Spring fitter", "LEAD"),
    ("ASM", "Assembler", "LEAD"),
    ("DRV", "Driver", "LEAD"),
    ("CLK", "Clerk", "LEAD"),
    ("TRN", "Trainee (Ausbildung)", "SPEC"),
)

AREAS = (
    ("A1", "Main gate", None),
    ("A2", "Hall North", "A1"),
    ("A3", "Hall South", "A1"),
    ("A4", "Yard / Hof", "A1"),
    ("A5", "Server room", "A2"),
)

LOCATIONS = (
    ("L1", "Clockwork Campus"),
    ("L2", "Remote depot Überwald"),
    ("L3", "Café Sekunde"),
)
