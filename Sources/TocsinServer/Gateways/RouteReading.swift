import GraphQL
import HTTPTypes
import JSON
import TocsinReceivers

/// Reads routes from their data file and checks all that can be checked before the first request.
package struct RouteReading {
    /// What is wrong with a document, a sentence each.
    package typealias DocumentCheck = (_ document: String) -> [String]

    private let file: String
    private let check: DocumentCheck
    /// The routes without problems, in the order of the file.
    package private(set) var routes: [Route] = []
    /// By the names under which variables ask for them.
    private(set) var searches: [String: RouteSearch]
    /// Sentences that name the file and the route.
    package private(set) var problems: [String] = []

    private static let methods = ["GET", "POST", "PUT", "PATCH", "DELETE"]
    private static let members: Set<String> = [
        "method", "path", "lookup", "document", "variables", "answer", "status", "debug",
    ]
    private static let variableMembers: Set<String> = ["from", "default", "words", "value", "search", "only"]
    private static let reserved = ["/client", "/graphql", "/healthz", "/readyz"]
    private static let maximumRoutes = 1000

    /// Reads a file's text; `routes` are those without problems.
    package init(_ text: String, file: String, check: @escaping DocumentCheck) {
        self.init(text, file: file, searches: [:], check: check)
    }

    /// Reads a file's text, which may ask for searches of another file too.
    init(_ text: String, file: String, searches: [String: RouteSearch], check: @escaping DocumentCheck) {
        self.file = file
        self.check = check
        self.searches = searches
        do throws(JSONError) {
            let root = try JSONParser.parse(text)
            guard let declared = root["routes"]?.arrayValue,
                root.objectValue?.keys.allSatisfy({ $0 == "routes" || $0 == "searches" }) == true
            else {
                problems.append(
                    "\(file): a file of routes is an object, {\"routes\": […]}, with \"searches\" if there are any."
                )
                return
            }
            readSearches(root["searches"] ?? [:])
            guard declared.count <= Self.maximumRoutes else {
                problems.append(
                    "\(file): there are \(declared.count) routes; at most \(Self.maximumRoutes) are served."
                )
                return
            }
            for (index, value) in declared.enumerated() { read(value, number: index + 1) }
        } catch {
            problems.append("\(file) is not JSON: \(error).")
        }
    }

    private mutating func readSearches(_ value: JSONValue) {
        guard let declared = value.objectValue else {
            problems.append("\(file): \"searches\" must be an object: a name, and the list of its steps.")
            return
        }
        for search in declared {
            do throws(TemplateProblem) {
                let read = try RouteSearch(search.value, check: check)
                searches[search.key] = read
                problems += read.faults.map { "\(file): search \(search.key): \($0)" }
            } catch {
                problems.append("\(file): search \(search.key): \(error.text).")
            }
        }
    }

    private mutating func read(_ value: JSONValue, number: Int) {
        let method = value["method"]?.stringValue
        let path = value["path"]?.stringValue
        let name = method.flatMap { method in path.map { "\(method) \($0)" } } ?? "route \(number)"
        do throws(TemplateProblem) {
            guard let members = value.objectValue, let method, let path else {
                throw TemplateProblem("a route is an object with texts for \"method\" and \"path\"")
            }
            try Self.checkNames(members, Self.members)
            try Self.check(method, path)
            guard let text = Self.document(members["document"]) else {
                throw TemplateProblem("\"document\" must be the document's text, or a list of its lines")
            }
            let document = try RouteDocument(text)
            let lookup = try Self.lookup(members["lookup"], for: document)
            let faults = check(text) + (lookup.map { check($0.text) } ?? [])
            guard faults.isEmpty else {
                problems += faults.map { "\(file): \(name): \($0)" }
                return
            }
            let route = try route(method, path, (text, document), lookup, members)
            guard !routes.contains(where: { $0.key == route.key }) else {
                throw TemplateProblem("another route of this file has this method and path. Remove one of them")
            }
            routes.append(route)
        } catch {
            problems.append("\(file): \(name): \(error.text).")
        }
    }

    private func route(
        _ method: String,
        _ path: String,
        _ main: (text: String, document: RouteDocument),
        _ lookup: (text: String, document: RouteDocument)?,
        _ members: JSONObject
    ) throws(TemplateProblem) -> Route {
        let document = main.document
        guard method != "GET" || document.operation.kind == .query else {
            throw TemplateProblem("GET must not change anything. Take POST for a mutation")
        }
        guard let answer = members["answer"] else {
            throw TemplateProblem("\"answer\" is missing: the JSON to answer with")
        }
        let template = try Template(answer, .route)
        for (placeholder, list) in template.placeholders {
            for place in placeholder.places {
                if let problem = document.problem(with: place, list: list) { throw TemplateProblem(problem) }
            }
        }
        guard let status = (members["status"] ?? 200).intValue, [200, 201, 202].contains(status) else {
            throw TemplateProblem("\"status\" must be 200, 201 or 202")
        }
        guard let isDebug = (members["debug"] ?? false).boolValue else {
            throw TemplateProblem("\"debug\" must be true or false")
        }
        return Route(
            method: method,
            path: path,
            document: main.text,
            lookup: lookup?.text,
            isDebug: isDebug,
            lookupVariables: Set(lookup?.document.operation.variables.map(\.name) ?? []),
            variables: try variables(members["variables"] ?? [:], document, lookup?.document),
            answer: template,
            status: [201: .created, 202: .accepted][status] ?? .ok
        )
    }

    /// The query to be run before, which is asked with variables of the document.
    private static func lookup(
        _ value: JSONValue?,
        for document: RouteDocument
    ) throws(TemplateProblem) -> (text: String, document: RouteDocument)? {
        guard let value else { return nil }
        guard let text = self.document(value) else {
            throw TemplateProblem("\"lookup\" must be a document's text, or a list of its lines")
        }
        let lookup = try RouteDocument(text)
        guard lookup.operation.kind == .query else { throw TemplateProblem("\"lookup\" must be a query") }
        let known = Set(document.operation.variables.map(\.name))
        for variable in lookup.operation.variables where !known.contains(variable.name) {
            throw TemplateProblem("\"lookup\" has $\(variable.name), which the document does not declare")
        }
        return (text, lookup)
    }

    private func variables(
        _ value: JSONValue,
        _ document: RouteDocument,
        _ lookup: RouteDocument?
    ) throws(TemplateProblem) -> [RouteVariable] {
        guard let declared = value.objectValue else {
            throw TemplateProblem("\"variables\" must be an object: a variable's name, and the names it has in bodies")
        }
        let definitions = document.operation.variables
        for name in declared.keys where !definitions.contains(where: { $0.name == name }) {
            throw TemplateProblem("\"variables\" has \"\(name)\", but the document does not declare $\(name)")
        }
        var variables: [RouteVariable] = []
        for definition in definitions {
            let isOptional = !definition.type.isNonNull || definition.defaultValue != nil
            guard let source = declared[definition.name] else {
                if isOptional { continue }
                throw TemplateProblem(
                    "$\(definition.name) must have a value, but \"variables\" does not say from where. Add it there"
                )
            }
            variables.append(try variable(definition, source, isOptional: isOptional))
            for (placeholder, list) in variables.last?.value?.placeholders ?? [] {
                for place in placeholder.places {
                    if case .group = place.root { continue }
                    guard place.root == .document, let lookup else {
                        throw TemplateProblem(
                            "the \"value\" of $\(definition.name) may name callers and the lookup's data only"
                        )
                    }
                    if let problem = lookup.problem(with: place, list: list) {
                        throw TemplateProblem("\(problem) in \"lookup\"")
                    }
                }
            }
        }
        return variables
    }

    private func variable(
        _ definition: VariableDefinition,
        _ source: JSONValue,
        isOptional: Bool
    ) throws(TemplateProblem) -> RouteVariable {
        let members: JSONObject = source.objectValue ?? ["from": source]
        try Self.checkNames(members, Self.variableMembers)
        let names = (members["from"]?.arrayValue ?? []).compactMap(\.stringValue)
        var template: Template?
        if let value = members["value"] {
            template = try Template(value, .route)
            guard members.count == 1 else {
                throw TemplateProblem("the \"value\" of $\(definition.name) stands alone: clients cannot give another")
            }
        }
        guard template != nil || !names.isEmpty && names.count == members["from"]?.arrayValue?.count else {
            throw TemplateProblem(
                "$\(definition.name) needs \"from\": a list of the names it has in bodies, or \"value\""
            )
        }
        guard let words = (members["words"] ?? [:]).objectValue else {
            throw TemplateProblem(
                "the \"words\" of $\(definition.name) must be an object: what clients write, what it means"
            )
        }
        let search = try search(members, definition)
        let kind = try kind(members)
        return RouteVariable(
            name: definition.name,
            type: definition.type,
            isOptional: isOptional,
            names: names,
            fallback: members["default"],
            words: WordTable(words.map { ($0.key, $0.value) }),
            value: template,
            search: search,
            only: kind
        )
    }

    private func kind(_ members: JSONObject) throws(TemplateProblem) -> RouteVariable.Kind? {
        guard let value = members["only"] else { return nil }
        guard let kind = value.stringValue.flatMap(RouteVariable.Kind.init(rawValue:)) else {
            throw TemplateProblem("\"only\" must be \"numbers\" or \"words\"")
        }
        return kind
    }

    private func search(
        _ members: JSONObject,
        _ definition: VariableDefinition
    ) throws(TemplateProblem) -> RouteSearch? {
        guard let value = members["search"] else { return nil }
        guard let search = value.stringValue.flatMap({ searches[$0] }) else {
            throw TemplateProblem("the \"search\" of $\(definition.name) must name one of \"searches\"")
        }
        guard definition.type.namedType == "ID" || definition.type.namedType == "String", !definition.type.isList,
            members["words"] == nil
        else {
            throw TemplateProblem(
                "$\(definition.name) cannot have a \"search\": only an ID or a String without \"words\" can"
            )
        }
        return search
    }

    private static func check(_ method: String, _ path: String) throws(TemplateProblem) {
        guard methods.contains(method) else {
            throw TemplateProblem("the method must be one of \(methods.joined(separator: ", "))")
        }
        let isPlain = path.utf8.allSatisfy { byte in
            (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
                || "/-._~".utf8.contains(byte)
        }
        guard path.hasPrefix("/"), path.utf8.count <= 256, isPlain, !path.contains("//"), path != "/" else {
            throw TemplateProblem(
                "the path must begin with a slash and have letters, digits and -._~ between single slashes"
            )
        }
        for taken in reserved where path == taken || path.hasPrefix(taken + "/") {
            throw TemplateProblem("\(taken) is the server's own. Choose another path")
        }
    }

    static func checkNames(_ members: JSONObject, _ known: Set<String>) throws(TemplateProblem) {
        for name in members.keys where !known.contains(name) {
            throw TemplateProblem("\"\(name)\" means nothing here. Known are \(known.sorted().joined(separator: ", "))")
        }
    }

    static func document(_ value: JSONValue?) -> String? {
        guard let lines = value?.arrayValue else { return value?.stringValue }
        let texts = lines.compactMap(\.stringValue)
        return texts.count == lines.count ? texts.joined(separator: "\n") : nil
    }
}
