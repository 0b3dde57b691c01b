import Testing
import TocsinCore

@Suite("Fields of a model by name")
struct RecordFieldTests {
    private static func model(_ names: [String]) -> ModelType {
        ModelType(
            name: "Note",
            plural: "Notes",
            table: ModelTable(name: "records", discriminator: "Note"),
            fields: names.map {
                ModelField(name: $0, typeName: "String", kind: .text, isRequired: false, storage: .extra($0))
            },
            indexes: [],
            relations: [],
            rules: []
        )
    }

    @Test("are found, whatever their names have in common, and no others", arguments: [0, 1, 3, 40, 700])
    func many(count: Int) {
        // Of one length, with the same letters at begin, middle and end.
        var names = ["id", "é", "_x"]
        for number in 1000..<(1000 + count) { names.append("a\(number)bc\(number)d") }
        let model = Self.model(names)
        for (position, name) in names.enumerated() { #expect(model.position(of: name) == position) }
        for name in names + [""] {
            #expect(model.position(of: name + "_") == nil)
            #expect(model.position(of: "x" + name.dropFirst()) == nil)
        }
    }

    @Test("of one name are the first of them")
    func doubles() {
        #expect(Self.model(["a", "b", "a"]).position(of: "a") == 0)
    }
}
