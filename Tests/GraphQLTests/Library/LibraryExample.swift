import GraphQL

/// The example of `docs/engine.md`; `LibraryTests` runs it and compares the
/// marked part with the page.
func libraryExample(print: (String) -> Void) async throws {
    // Page: begin
    struct Note { var text: String }
    let store = [Note(text: "Disk full"), Note(text: "Disk fine")]
    let sdl = "type Query { notes(limit: Int): [Note!]! } type Note { text: String! } type Subscription { added: Note }"
    // What fields are resolved of (at the root nil), and the context.
    var resolvers = ResolverMap<Note?, [Note]>()
    resolvers.batch("Query.notes") { _, field in
        [.list(field.context.prefix(Int(field.arguments["limit"]?.intValue ?? 10)).map { .object($0) })]
    }
    resolvers.leaf("Note.text") { note, out in out.string(note?.text) }
    // Throws all that does not fit.
    let service = try ExecutableSchema(schema: Schema(sdl: sdl), resolvers: resolvers)
    let plans = PlanCache(schema: service.schema, validationLimits: ValidationLimits(maximumDepth: 8))
    // Parsed and validated once.
    let plan = try plans.plan(text: "query($n: Int) { notes(limit: $n) { text } }")
    let result = await service.execute(plan, variables: ["n": 1], root: nil, context: store)
    // Prints {"data":{"notes":[{"text":"Disk full"}]}}
    print(String(decoding: result.bytes, as: UTF8.self))
    let live = try plans.plan(text: "subscription { added { text } }")
    // Once for each of your events.
    let response = await service.executeEvent(live, event: store[1], context: store)
    // Prints {"data":{"added":{"text":"Disk fine"}}}
    print(String(decoding: response.bytes, as: UTF8.self))
    // Page: end
}
