import Testing
import TocsinAPI

/// Mistakes that would change who may do what, or come to light only when a client asks: told at
/// the start, with line and advice.
@Suite("What a model file must not say in silence")
struct SchemaStrictnessTests {
    private static let shipped = """
        type Topic @model @auth(rules: [{ allow: owner }]) { id: ID! name: String! arn: String! }
        type Message @model @auth(rules: [{ allow: owner }]) {
          id: ID! type: Int! title: String! body: String! createdAt: AWSDateTime! topicId: ID!
        }
        """
    private static let own = "@auth(rules: [{ allow: owner }])"

    private func expect(_ addition: String, _ message: String) throws {
        let problems = try #require(throws: SchemaProblems.self) {
            try APISchema(modelText: Self.shipped + "\n" + addition, modelFile: "m.graphql")
        }.problems
        #expect(problems.contains { $0.message.contains(message) && $0.line == 5 }, "\(problems)")
    }

    @Test(
        "rules that are not what they look like",
        arguments: [
            ("@auth(rules: [{ allow: owner, allow: private }])", "says allow twice"),
            ("@auth(rules: [{ allow: owner }]) @auth(rules: [{ allow: private }])", "@auth stands twice on Note"),
            ("@auth(rules: [{ allow: owner }], rules: [{ allow: private }])", "@auth(rules:) is given twice"),
            ("@auth(rules: [{ allow: owner }], operations: [read])", "@auth(operations:) is not supported"),
            ("@auth(rules: [{ allow: owner }, { operations: [read] }])", "says whom it allows"),
            ("@auth(rules: [{ allow: owner }, private])", "says whom it allows"),
            ("@auth(rules: [{ allow: owner, ownerField: 5 }])", "ownerField must be a text"),
            ("@auth(rules: [{ allow: owner, identityClaim: \"\" }])", "identityClaim must be a text"),
            ("@auth(rules: [{ allow: groups, groups: [\"a\", 5] }])", "groups must be a list of texts"),
            ("@auth(rules: [{ allow: groups, groups: [\"a\"], groupClaim: 5 }])", "groupClaim must be a text"),
            ("@auth(rules: [{ allow: owner, provider: 5 }])", "provider must be a text"),
            ("@auth(rules: [{ allow: owner, operations: [] }])", "operations must be a list of texts"),
            ("@auth(rules: [{ allow: owner, operations: null }])", "operations must be a list of texts"),
        ]
    )
    func rules(auth: String, message: String) throws {
        try expect("type Note @model \(auth) { id: ID! }", message)
    }

    @Test(
        "an index on a field that not everybody may read",
        arguments: [
            "@index(name: \"x\") @auth(rules: [{ allow: groups, groups: [\"a\"] }])",
            "@auth(rules: [{ allow: groups, groups: [\"a\"] }]) @index(name: \"x\")",
        ]
    )
    func indexOfSecret(directives: String) throws {
        try expect("type Note @model \(Self.own) { id: ID! a: String \(directives) }", "no @auth of its own")
    }

    @Test(
        "an order or a key of a field that not everybody may read, which would tell what is in it",
        arguments: [
            (
                "id: ID! a: ID! @index(name: \"byA\", sortKeyFields: [\"b\", \"secret\"]) b: Int secret: Int",
                "Note.secret has an @auth of its own, but the order of @index byA would tell what is in it: take secret out of"
            ),
            (
                "a: ID! @primaryKey(sortKeyFields: [\"secret\"]) secret: Int!",
                "Note.secret has an @auth of its own, but names the record"
            ),
            ("secret: ID! @primaryKey", "Note.secret has an @auth of its own, but names the record"),
        ]
    )
    func orderOfSecret(fields: String, message: String) throws {
        let guarded = "@auth(rules: [{ allow: groups, groups: [\"a\"] }])"
        try expect("type Note @model \(Self.own) { \(fields) \(guarded) }", message)
    }

    @Test(
        "values of the wrong kind",
        arguments: [
            ("a: String @index(name: 5)", "name must be a text"),
            ("a: String @index(name: \"x\", queryField: 5)", "queryField must be a text"),
            ("a: String @index(name: \"x\", sortKeyFields: [5])", "sortKeyFields must be a list of texts"),
            ("a: String @default(value: \"x\") @default(value: \"y\")", "@default stands twice on a"),
            ("a: Int b: Topic @hasOne(fields: [\"a\"])", "a is Int and cannot hold id of Topic"),
            ("createdAt: Int", "createdAt of Note is written by the server as a time"),
            ("updatedAt: [AWSDateTime]", "updatedAt of Note is written by the server as a time"),
        ]
    )
    func values(field: String, message: String) throws {
        try expect("type Note @model \(Self.own) { id: ID! \(field) }", message)
    }

    @Test(
        "names that cannot stand, or are taken",
        arguments: [
            ("type __Note @model \(own) { id: ID! }", "begins with two underscores"),
            ("type Note @model \(own) { id: ID! a: B } type B { c: Int } enum BInput { A }", "made for"),
            ("enum ModelNoteConnection { A } type Note @model \(own) { id: ID! }", "made for"),
            ("enum CreateNoteInput { A } type Note @model \(own) { id: ID! }", "made for"),
            ("enum ModelSortDirection { A }", "taken by the server's own types"),
            ("enum A { A } enum A { B }", "A is declared twice"),
            ("enum A @model { A }", "@model means nothing on the enum A"),
            ("type Note @model \(own) { id: ID! a: ID @index(name: \"x\", queryField: \"a b\") }", "operation a b"),
            ("type Note @model \(own) { id: ID! a: ID @index(name: \"x\", queryField: \"me\") }", "Tocsin both name"),
            ("type Note @model(queries: { get: \"a-b\" }) \(own) { id: ID! }", "operation a-b"),
            ("type Note @model(mutations: { create: \"markRead\" }) \(own) { id: ID! }", "Tocsin both name"),
            ("type Note @model(timestamps: { createdAt: \"a\", updatedAt: \"a\" }) \(own) { id: ID! }", "both times a"),
            ("type Note @model(timestamps: { createdAt: \"owner\" }) \(own) { id: ID! }", "cannot call a time owner"),
            ("type Note @model(timestamps: { createdAt: \"a b\" }) \(own) { id: ID! }", "cannot call a time a b"),
            ("type note @model \(own) { id: ID! } type Note @model \(own) { id: ID! }", "an operation createNote"),
        ]
    )
    func names(addition: String, message: String) throws {
        try expect(addition, message)
    }

    @Test("objects that would never end")
    func endless() throws {
        let note = "type Note @model \(Self.own) { id: ID! a: A }"
        try expect("\(note) type A { b: B! } type B { a: A! }", "Every A would need another one inside it")
        _ = try APISchema(modelText: Self.shipped + "\n\(note) type A { b: [B!]! } type B { a: A! }")
    }

    @Test("a field that Tocsin has already is told at its own line")
    func ownField() throws {
        let text = Self.shipped.replacing("topicId: ID!", with: "topicId: ID! url: AWSURL")
        let problems = try #require(throws: SchemaProblems.self) { try APISchema(modelText: text) }.problems
        #expect(problems.map(\.line) == [3])
        #expect(problems.first?.message.contains("url of Message is there already") == true)
    }

    @Test("a type without a capital has Amplify's names with one")
    func smallNames() throws {
        let text = "type note @model \(Self.own) { id: ID! to: [note] @hasMany from: note @belongsTo }"
        let sdl = try APISchema(modelText: Self.shipped + "\n" + text).sdl
        for part in [
            "createNote(input: CreateNoteInput!, condition: ModelNoteConditionInput): note",
            "getNote(id: ID!): note", "listNotes(filter: ModelNoteFilterInput", "syncNotes(",
            "onCreateNote(filter: ModelSubscriptionNoteFilterInput", "items: [note]!", "): ModelNoteConnection",
        ] {
            #expect(sdl.contains(part), "\(part)")
        }
    }
}
