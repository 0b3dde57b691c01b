import GraphQL

/// The example of `docs/engine.md`; `LibraryTests` runs it and compares the marked part with the page.
func libraryExample(print: (String) -> Void) async throws {
    // Page: begin
    struct Note { var text: String }
    let store = [Note(text: "Disk full"), Note(text: "Disk fine")]
    let sdl = "type Query { notes(limit: Int): [Note!]! } type Note { text: String! } type Subscription { added: Note }"
    var resolvers = ResolverMap<Note?, [Note]>()  // what fields are resolved of (at the root nil), and the context
    resolvers.batch("Query.notes") { _, field in
        [.list(field.context.prefix(Int(field.arguments["limit"]?.intValue ?? 10)).map { .object($0) })]
    }
    resolvers.leaf("Note.text") { note, out in out.string(note?.text) }
    let service = try ExecutableSchema(schema: Schema(sdl: sdl), resolvers: resolvers)  // or all that does not fit
    let plans = PlanCache(schema: service.schema, validationLimits: ValidationLimits(maximumDepth: 8))
    let plan = try plans.plan(text: "query($n: Int) { notes(limit: $n) { text } }")  // parsed and validated once
    let result = await service.execute(plan, variables: ["n": 1], root: nil, context: store)
    print(String(decoding: result.bytes, as: UTF8.self))  // {"data":{"notes":[{"text":"Disk full"}]}}
    let live = try plans.plan(text: "subscription { added { text } }")
    let response = await service.executeEvent(live, event: store[1], context: store)  // one for each of your events
    print(String(decoding: response.bytes, as: UTF8.self))  // {"data":{"added":{"text":"Disk fine"}}}
    // Page: end
}
