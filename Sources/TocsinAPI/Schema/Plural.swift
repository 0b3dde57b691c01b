/// English plurals as Amplify names list and sync operations (`Topic` → `Topics`, `Category` → `Categories`).
enum Plural {
    private static let irregular = [
        "person": "people", "man": "men", "woman": "women", "child": "children", "tooth": "teeth", "foot": "feet",
        "goose": "geese", "mouse": "mice", "ox": "oxen", "die": "dice", "quiz": "quizzes", "thief": "thieves",
        "leaf": "leaves", "loaf": "loaves", "life": "lives", "knife": "knives", "wife": "wives", "shelf": "shelves",
        "wolf": "wolves", "half": "halves", "hero": "heroes", "echo": "echoes", "potato": "potatoes",
        "tomato": "tomatoes", "index": "indices", "vertex": "vertices", "matrix": "matrices", "criterion": "criteria",
        "phenomenon": "phenomena", "axis": "axes", "crisis": "crises", "analysis": "analyses", "basis": "bases",
    ]
    private static let unchanging: Set<String> = [
        "data", "sheep", "fish", "deer", "series", "species", "news", "information", "equipment", "money", "police",
        "media", "moose", "software", "hardware", "feedback", "traffic", "advice", "health", "wildlife",
    ]

    /// The plural, keeping the case of the name.
    static func of(_ name: String) -> String {
        let lower = name.lowercased()
        if unchanging.contains(lower) { return name }
        if let word = irregular.keys.sorted(by: { $0.count > $1.count }).first(where: { lower == $0 }) {
            return keepingCase(of: name, irregular[word] ?? name)
        }
        let sibilants = ["s", "x", "z", "ch", "sh"]
        if sibilants.contains(where: lower.hasSuffix) { return name + "es" }
        if lower.hasSuffix("y"), let before = lower.dropLast().last, !"aeiou".contains(before) {
            return name.dropLast() + "ies"
        }
        return name + "s"
    }

    private static func keepingCase(of name: String, _ plural: String) -> String {
        guard name.first?.isUppercase == true else { return plural }
        return plural.prefix(1).uppercased() + plural.dropFirst()
    }
}
