/// English plurals as Amplify names list and sync operations: by the rules of the JavaScript
/// package `pluralize`, version 8.
enum Plural {
    /// The plural, keeping the case of the name.
    static func of(_ name: String) -> String {
        let lower = name.lowercased()
        if unchanging.contains(lower) || unchangingEnds.contains(where: { lower.firstMatch(of: $0) != nil }) {
            return name
        }
        if let plural = irregular[lower] { return restoringCase(of: name[...], plural) }
        for (rule, replacement) in rules.reversed() {
            guard let match = name.firstMatch(of: rule) else { continue }
            return replace(match, in: name, by: replacement)
        }
        return name
    }

    private static func replace(
        _ match: Regex<AnyRegexOutput>.Match,
        in name: String,
        by replacement: String
    ) -> String {
        var text = ""
        var isReference = false
        for character in replacement {
            if isReference, let number = character.wholeNumberValue {
                text += match.output.indices.contains(number) ? String(match.output[number].substring ?? "") : ""
                isReference = false
            } else if character == "$" {
                isReference = true
            } else {
                text.append(character)
            }
        }
        let replaced = name[match.range]
        let model = replaced.isEmpty ? name[..<match.range.lowerBound].suffix(1) : replaced
        return name[..<match.range.lowerBound] + restoringCase(of: model, text) + name[match.range.upperBound...]
    }

    private static func restoringCase(of model: Substring, _ text: String) -> String {
        if model == text { return text }
        if model.lowercased() == model { return text.lowercased() }
        if model.uppercased() == model { return text.uppercased() }
        guard model.first?.isUppercase == true else { return text.lowercased() }
        return text.prefix(1).uppercased() + text.dropFirst().lowercased()
    }

    /// Later rules win.
    private static var rules: [(Regex<AnyRegexOutput>, String)] {
        [
            ("s?$", "s"), ("[^\\x00-\\x7F]$", "$0"), ("([^aeiou]ese)$", "$1"), ("(ax|test)is$", "$1es"),
            ("(alias|[^aou]us|t[lm]as|gas|ris)$", "$1es"), ("(e[mn]u)s?$", "$1s"),
            ("([^l]ias|[aeiou]las|[ejzr]as|[iu]am)$", "$1"),
            (
                "(alumn|syllab|vir|radi|nucle|fung|cact|stimul|termin|bacill|foc|uter|loc|strat)(?:us|i)$", "$1i"
            ),
            ("(alumn|alg|vertebr)(?:a|ae)$", "$1ae"), ("(seraph|cherub)(?:im)?$", "$1im"), ("(her|at|gr)o$", "$1oes"),
            (
                "(agend|addend|millenni|dat|extrem|bacteri|desiderat|strat|candelabr|errat|ov|symposi|curricul|quor)(?:a|um)$",
                "$1a"
            ),
            (
                "(apheli|hyperbat|periheli|asyndet|noumen|phenomen|criteri|organ|prolegomen|hedr|automat)(?:a|on)$",
                "$1a"
            ),
            ("sis$", "ses"), ("(?:(kni|wi|li)fe|(ar|l|ea|eo|oa|hoo)f)$", "$1$2ves"), ("([^aeiouy]|qu)y$", "$1ies"),
            ("([^ch][ieo][ln])ey$", "$1ies"), ("(x|ch|ss|sh|zz)$", "$1es"),
            ("(matr|cod|mur|sil|vert|ind|append)(?:ix|ex)$", "$1ices"), ("\\b((?:tit)?m|l)(?:ice|ouse)$", "$1ice"),
            ("(pe)(?:rson|ople)$", "$1ople"), ("(child)(?:ren)?$", "$1ren"), ("eaux$", "$0"), ("m[ae]n$", "men"),
        ].compactMap { pattern, replacement in expression(pattern).map { ($0, replacement) } }
    }

    private static var unchangingEnds: [Regex<AnyRegexOutput>] {
        ["pok[eé]mon$", "[^aeiou]ese$", "deer$", "fish$", "measles$", "o[iu]s$", "pox$", "sheep$"]
            .compactMap(expression)
    }

    /// The patterns above are all valid; a test goes through every one.
    private static func expression(_ pattern: String) -> Regex<AnyRegexOutput>? {
        (try? Regex(pattern))?.ignoresCase()
    }

    private static let irregular = [
        "echo": "echoes", "dingo": "dingoes", "volcano": "volcanoes", "tornado": "tornadoes", "torpedo": "torpedoes",
        "genus": "genera", "viscus": "viscera", "stigma": "stigmata", "stoma": "stomata", "dogma": "dogmata",
        "lemma": "lemmata", "schema": "schemata", "anathema": "anathemata", "ox": "oxen", "axe": "axes", "die": "dice",
        "yes": "yeses", "foot": "feet", "eave": "eaves", "goose": "geese", "tooth": "teeth", "quiz": "quizzes",
        "human": "humans", "proof": "proofs", "carve": "carves", "valve": "valves", "looey": "looies",
        "thief": "thieves", "groove": "grooves", "pickaxe": "pickaxes", "passerby": "passersby", "canvas": "canvases",
        "i": "we", "me": "us", "he": "they", "she": "they", "myself": "ourselves", "yourself": "yourselves",
        "itself": "themselves", "herself": "themselves", "himself": "themselves", "themself": "themselves",
        "is": "are", "was": "were", "has": "have", "this": "these", "that": "those", "my": "our", "its": "their",
        "his": "their", "her": "their", "thou": "you",
    ]

    private static let unchanging = Set(
        """
        adulthood advice agenda aid aircraft alcohol ammo analytics anime athletics audio bison blood bream buffalo \
        butter carp cash chassis chess clothing cod commerce cooperation corps debris diabetes digestion elk energy \
        equipment excretion expertise firmware flounder fun gallows garbage graffiti hardware headquarters health herpes \
        highjinks homework housework information jeans justice kudos labour literature machinery mackerel mail media mews \
        moose music mud manga news only personnel pike plankton pliers police pollution premises rain research rice \
        salmon scissors series sewage shambles shrimp software species staff swine tennis traffic transportation trout \
        tuna wealth welfare whiting wildebeest wildlife you
        """.split(separator: " ").map(String.init)
    )
}
