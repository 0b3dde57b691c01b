import Glibc
import GraphQL
import JSON
import TocsinServer

/// Answers calls of the GraphQL tool; keeps the schemas of the calls before, which
/// suites use again and again.
struct GraphQLTool {
    /// What a call prints, and its exit code.
    struct Answer {
        var exit: Int32
        var out: [UInt8] = []
        /// For people, on standard error: why there was nothing to do.
        var complaint: String?

        /// A call that cannot be carried out: programs get it as an error like any other.
        static func refusal(_ complaint: String) -> Answer {
            var answer = errors([GraphQLError(complaint)])
            answer.complaint = complaint
            return answer
        }

        static func errors(_ errors: [GraphQLError]) -> Answer {
            Answer(exit: 1, out: ExecutionResult(refused: RequestErrors(kind: .validation, errors: errors)).bytes)
        }
    }

    /// The last schemas, the newest last.
    private var schemas: [(text: [UInt8], result: Result<Schema, RequestErrors>)] = []
    private static let maximumSchemas = 16

    /// Limits that keep the tool alive, and refuse nothing a suite would feed it.
    private static let jsonLimits = JSONLimits(
        maximumBytes: 100_000_000,
        maximumDepth: 256,
        maximumValues: 10_000_000,
        maximumNumberLength: 400
    )

    /// Runs the command line, and returns the exit code.
    static func main(_ arguments: [String]) async -> Int32 {
        if arguments.contains("--help") || arguments.contains("-h") {
            Terminal.print(GraphQLArguments.usage)
            return 0
        }
        if arguments.contains("--stdin-lines") {
            await GraphQLLines.run(arguments.filter { $0 != "--stdin-lines" })
            return 0
        }
        var tool = GraphQLTool()
        let answer = await tool.answer(arguments, files: [:])
        if let complaint = answer.complaint { StandardError.write("tocsin: \(complaint)\n") }
        if !answer.out.isEmpty { Terminal.write(answer.out + [0x0A]) }
        return answer.exit
    }

    /// Answers one call; `files` are read before those on disk.
    mutating func answer(_ arguments: [String], files: [String: String]) async -> Answer {
        do throws(CommandFailure) {
            let call = try GraphQLArguments(arguments)
            let source = try Self.read(call.file, files)
            switch call.action {
            case .parse: return Self.parsed(source)
            case .print: return Self.printed(source)
            case .validate: return validated(source, against: try Self.read(call.schema ?? "-", files))
            case .execute: return try await executed(source, call, files)
            }
        } catch {
            return .refusal(error.description)
        }
    }

    private static func parsed(_ source: [UInt8]) -> Answer {
        do throws(SyntaxError) {
            return Answer(exit: 0, out: try syntaxTree(of: source, limits: .unlimited))
        } catch {
            return .errors([GraphQLError(error)])
        }
    }

    private static func printed(_ source: [UInt8]) -> Answer {
        do throws(SyntaxError) {
            return Answer(exit: 0, out: Array(printDocument(try parse(source, limits: .unlimited)).utf8))
        } catch {
            return .errors([GraphQLError(error)])
        }
    }

    private mutating func validated(_ source: [UInt8], against sdl: [UInt8]) -> Answer {
        switch Self.document(source, validFor: schema(sdl)) {
        case .success: Answer(exit: 0, out: Array("{\"errors\":[]}".utf8))
        case .failure(let refusal): .errors(refusal.errors)
        }
    }

    private mutating func executed(
        _ source: [UInt8],
        _ call: GraphQLArguments,
        _ files: [String: String]
    ) async throws(CommandFailure) -> Answer {
        let schema = schema(try Self.read(call.schema ?? "-", files))
        let root = try Self.json(call.rootValue, files)
        let variables = try Self.json(call.variables, files)
        guard let variables = variables.objectValue else {
            return .errors([GraphQLError("Variables must be provided as a JSON object.")])
        }
        do throws(RequestErrors) {
            let valid = try Self.document(source, validFor: schema).get()
            let request = RootValueRequest(root: root, variables: variables, echoesArguments: call.echoesArguments)
            let result = try await request.execute(valid.document, call.operation, valid.schema)
            return Answer(exit: result.requestErrors == nil ? 0 : 1, out: result.bytes)
        } catch {
            return .errors(error.errors)
        }
    }

    private mutating func schema(_ text: [UInt8]) -> Result<Schema, RequestErrors> {
        if let known = schemas.first(where: { $0.text == text }) { return known.result }
        let result: Result<Schema, RequestErrors> = Self.document(text).flatMap { document in
            Result { () throws(SchemaErrors) in try Schema(documents: [document]) }
                .mapError { RequestErrors(kind: .validation, errors: $0.errors) }
        }
        if schemas.count == Self.maximumSchemas { schemas.removeFirst() }
        schemas.append((text, result))
        return result
    }

    private static func document(_ source: [UInt8]) -> Result<Document, RequestErrors> {
        Result { () throws(SyntaxError) in try parse(source, limits: .unlimited) }
            .mapError { RequestErrors(kind: .syntax, errors: [GraphQLError($0)]) }
    }

    private static func document(
        _ source: [UInt8],
        validFor schema: Result<Schema, RequestErrors>
    ) -> Result<(document: Document, schema: Schema), RequestErrors> {
        schema.flatMap { schema in
            document(source).flatMap { document in
                let errors = validate(document, against: schema, limits: .specification)
                guard errors.isEmpty else { return .failure(RequestErrors(kind: .validation, errors: errors)) }
                return .success((document, schema))
            }
        }
    }

    private static func json(_ name: String?, _ files: [String: String]) throws(CommandFailure) -> JSONValue {
        guard let name else { return .object([:]) }
        let text = try read(name, files)
        do throws(JSONError) {
            return try JSONParser.parse(text, limits: jsonLimits)
        } catch {
            throw CommandFailure("\(name) is no JSON: \(error)")
        }
    }

    private static func read(_ name: String, _ files: [String: String]) throws(CommandFailure) -> [UInt8] {
        if let text = files[name] { return Array(text.utf8) }
        do throws(SystemFile.Failure) {
            return try name == "-"
                ? SystemFile.rest(of: STDIN_FILENO, maximumBytes: .max)
                : SystemFile.contents(of: name, maximumBytes: .max)
        } catch {
            throw CommandFailure("Cannot read \(name): \(error.reason).")
        }
    }
}
