import GraphQL
import HTTPTypes
import JSON
import TocsinCore
import TocsinReceivers

/// How what a client calls a thing becomes its id: queries asked in turn until one
/// of them finds something.
struct RouteSearch: Sendable {
    /// One query, asked for the word alone.
    struct Step: Sendable {
        let document: String
        /// The document's only variable.
        let variable: String
        /// Where the data has what was looked for; lists on the way give all of their items.
        let path: [String]
        /// The field beside it that says whose it is; nil where nobody's comes first.
        let owner: String?
        /// Words that do not begin so are not asked for.
        let prefix: String
    }

    let steps: [Step]
    /// What is wrong with steps that the schema leaves no room for, which are left out.
    let faults: [String]

    private static let members: Set<String> = ["document", "at", "owner", "prefix"]
    private static let maximumSteps = 8

    /// Reads a list of steps; `check` says what is wrong with a document.
    init(_ value: JSONValue, check: RouteReading.DocumentCheck) throws(TemplateProblem) {
        guard let declared = value.arrayValue, (1...Self.maximumSteps).contains(declared.count) else {
            throw TemplateProblem("a search is a list of 1 to \(Self.maximumSteps) steps")
        }
        var steps: [Step] = []
        var faults: [String] = []
        for value in declared {
            let step = try Self.step(value)
            let found = check(step.document)
            if found.isEmpty { steps.append(step) }
            faults += found
        }
        self.steps = steps
        self.faults = faults
    }

    private static func step(_ value: JSONValue) throws(TemplateProblem) -> Step {
        guard let members = value.objectValue else { throw TemplateProblem("a step of a search is an object") }
        try RouteReading.checkNames(members, self.members)
        guard let text = RouteReading.document(members["document"]) else {
            throw TemplateProblem("a step's \"document\" must be the document's text, or a list of its lines")
        }
        let document = try RouteDocument(text)
        guard document.operation.kind == .query, document.operation.variables.count == 1,
            let variable = document.operation.variables.first?.name
        else { throw TemplateProblem("a step's \"document\" must be a query with one variable, the word to look for") }
        guard let at = try place(members["at"]) else {
            throw TemplateProblem("a step's \"at\" must be one placeholder of its data, like {getTopic.id}")
        }
        if let problem = document.problem(with: at, list: nil) { throw TemplateProblem(problem) }
        let owner = try Self.owner(members["owner"], beside: at.keys, in: document)
        guard let prefix = (members["prefix"] ?? "").stringValue else {
            throw TemplateProblem("a step's \"prefix\" must be a text")
        }
        return Step(document: text, variable: variable, path: at.keys, owner: owner, prefix: prefix)
    }

    private static func owner(
        _ value: JSONValue?,
        beside path: [String],
        in document: RouteDocument
    ) throws(TemplateProblem) -> String? {
        guard let value else { return nil }
        guard let owner = try place(value), owner.keys.dropLast() == path.dropLast(), let field = owner.keys.last
        else { throw TemplateProblem("a step's \"owner\" must be one placeholder beside that of \"at\"") }
        if let problem = document.problem(with: owner, list: nil) { throw TemplateProblem(problem) }
        return field
    }

    /// The place of the data that a text names, and nothing else.
    private static func place(_ value: JSONValue?) throws(TemplateProblem) -> TemplatePlace? {
        guard let value, value.stringValue != nil, case .placeholder(let placeholder) = try Template(value, .route),
            let place = placeholder.onlyPlace, place.root == .document
        else { return nil }
        return place
    }

    /// What the word stands for; nil when nothing is found, or nothing that the caller may see.
    ///
    /// What is the caller's own comes before what others share with them under the same name.
    func result(
        for word: String,
        called name: String,
        caller: Identity,
        run: Route.Run
    ) async throws(RouteFault) -> JSONValue? {
        for step in steps where word.hasPrefix(step.prefix) {
            let data: JSONValue
            do throws(RouteFault) {
                data = try await run(step.document, [step.variable: .string(word)])
            } catch {
                // What may not be asked is not found; what cannot be asked now is no answer.
                guard error.status.code < 429 else { throw error }
                continue
            }
            let found = step.found(in: data, for: caller)
            guard found.count <= 1 else {
                throw .badInput("\"\(name)\" names several that are called so. Send the id of one of them.")
            }
            if let only = found.first { return only }
        }
        return nil
    }

    fileprivate static func values(at path: ArraySlice<String>, in value: JSONValue) -> [JSONValue] {
        if let items = value.arrayValue { return items.flatMap { values(at: path, in: $0) } }
        guard let key = path.first else { return value.isNull ? [] : [value] }
        return value[key].map { values(at: path.dropFirst(), in: $0) } ?? []
    }
}

extension RouteSearch.Step {
    /// What was found, each once: of several the caller's own, if there are any.
    fileprivate func found(in data: JSONValue, for caller: Identity) -> Set<JSONValue> {
        let all = Set(RouteSearch.values(at: path[...], in: data))
        guard all.count > 1, let owner, let field = path.last else { return all }
        let items = RouteSearch.values(at: path.dropLast(), in: data)
        let own = items.filter { $0[owner]?.stringValue == caller.username }.compactMap { $0[field] }
        return own.isEmpty ? all : Set(own)
    }
}
