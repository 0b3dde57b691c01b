import GraphQL
import Testing
import TocsinAPI

/// What Amplify's apps may have in their schema and Tocsin does not take: each is told with
/// its line and what to write.
@Suite("What a model file cannot say")
struct SchemaRefusalTests {
    private static let shipped = """
        type Topic @model @auth(rules: [{ allow: owner }]) { id: ID! name: String! arn: String! }
        type Message @model @auth(rules: [{ allow: owner }]) {
          id: ID! type: Int! title: String! body: String! createdAt: AWSDateTime! topicId: ID!
        }
        """
    private static let own = "@auth(rules: [{ allow: owner }])"

    private func problems(_ text: String) throws -> [SchemaProblem] {
        try #require(throws: SchemaProblems.self) {
            try APISchema(modelText: text, modelFile: "m.graphql")
        }.problems
    }

    private func expect(_ addition: String, _ message: String) throws {
        let problems = try problems(Self.shipped + "\n" + addition)
        let problem = problems.first { $0.message.contains(message) }
        #expect(problem != nil, "\(problems)")
        #expect(problem?.file == "m.graphql")
        #expect(problem?.line == 5)
    }

    @Test(
        "arguments of @model",
        arguments: [
            ("queries: 3", "is null or an object with get, list, sync"),
            ("mutations: { make: \"x\" }", "for create, delete, update; not make"),
            ("mutations: { create: 1 }", "for create, delete, update; not create"),
            ("subscriptions: { level: public }", "write level: on or off"),
            ("subscriptions: { onMake: [\"x\"] }", "not onMake"),
            ("timestamps: { madeAt: \"x\" }", "for createdAt, updatedAt; not madeAt"),
            ("table: \"x\"", "use queries, mutations, subscriptions, timestamps"),
            ("queries: { get: \"getTopic\" }", "both name an operation getTopic"),
        ]
    )
    func modelArguments(arguments: String, message: String) throws {
        try expect("type Note @model(\(arguments)) \(Self.own) { id: ID! }", message)
    }

    @Test("the shipped models keep their operations", arguments: ["queries: null", "mutations: { create: null }"])
    func shippedModels(arguments: String) throws {
        let text = Self.shipped.replacing("type Topic @model", with: "type Topic @model(\(arguments))")
        let problem = try #require(try problems(text).first)
        #expect(problem.line == 1)
        #expect(problem.message.contains("say in @auth"))
    }

    @Test(
        "directives",
        arguments: [
            (
                "type Note @model @aws_api_key @auth(rules: [{ allow: public }]) { id: ID! }",
                "@aws_api_key is AppSync's own"
            ),
            ("type Note @model \(own) { id: ID! a: Int @aws_cognito_user_pools }", "is AppSync's own"),
            ("type Note @model @searchable \(own) { id: ID! }", "@searchable is not supported on a type"),
            ("type Note @model \(own) { id: ID! a: String @function(name: \"f\") }", "@function is not known"),
            ("type Note @model \(own) { id: ID! a: [Topic] @manyToMany(relationName: \"x\") }", "the model in between"),
            ("type Note @model \(own) { id: ID! a: Topic @hasOne(references: [\"x\"]) }", "@hasOne(references:)"),
            (
                "type Note @model \(own) { a: ID! @primaryKey(sortKeyFields: [\"b\"]) b: ID! c: [Topic] @hasMany }",
                "needs a single key field"
            ),
            ("type Note @model @auth(rules: [{ allow: public, provider: iam }]) { id: ID! }", "provider: iam"),
            ("type Note @model @auth(rules: [{ allow: resource }]) { id: ID! }", "allow: resource is not supported"),
        ]
    )
    func directives(addition: String, message: String) throws {
        try expect(addition, message)
    }

    @Test(
        "objects inside records",
        arguments: [
            ("type Note @model \(own) { id: ID! a: A } type A @auth(rules: []) { b: Int }", "has no @model; add it"),
            (
                "type Note @model \(own) { id: ID! a: A } type A { b: Int @index(name: \"x\") }",
                "needs a type with @model"
            ),
            ("type Note @model \(own) { id: ID! a: A } type A { b: Int @auth(rules: []) }", "needs a type with @model"),
            ("type Note @model \(own) { id: ID! a: A } type A { b: Topic }", "leads from A to the model Topic"),
            ("type Note @model \(own) { id: ID! a: A } type A { b(c: Int): Int }", "has arguments"),
            ("type Note @model \(own) { id: ID! a: A } type A { b: Int b: Int }", "declares b twice"),
            ("type Note @model \(own) { id: ID! a: A } type A { b: Nothing }", "The type Nothing of b is not known"),
            ("type Note @model \(own) { id: ID! a: A } type A { b: [[Int]] }", "a list of lists"),
            ("type Note @model \(own) { id: ID! a: A @index(name: \"x\") } type A { b: Int }", "needs a single value"),
            ("type Note @model \(own) { id: ID! a: A @default(value: \"x\") } type A { b: Int }", "is no value of a"),
            ("type Note @model \(own) { a: A! @primaryKey } type A { b: Int }", "needs a text or a number"),
            ("type Note @model \(own) { id: ID! a: [A] @hasMany } type A { b: Int }", "a list of a model"),
            ("type A { b: Int }", "Type A has no @model, and no model has a field of it"),
            ("type A { b: B } type B { a: A }", "Type B has no @model, and no model has a field of it"),
            (
                "type Note @model @auth(rules: [{ allow: owner, ownerField: \"a\" }]) { id: ID! a: A } type A { b: Int }",
                "its type must be String"
            ),
        ]
    )
    func embedded(addition: String, message: String) throws {
        try expect(addition, message)
    }

    @Test(
        "other definitions",
        arguments: [
            "interface A { b: Int }", "union A = Topic", "input A { b: Int }", "scalar A",
            "extend type Topic { b: Int }",
            "directive @a on OBJECT", "schema { query: Query }",
        ]
    )
    func definitions(addition: String) throws {
        try expect(addition, "Only object types and enums")
    }

    @Test("all problems are told at once")
    func together() throws {
        let text = Self.shipped + "\ntype A @model { id: ID! }\ntype B @model \(Self.own) { id: ID! c: D }"
        #expect(Set(try problems(text).map(\.line)) == [5, 6])
    }
}
