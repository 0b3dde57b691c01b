import Foundation
import GraphQL
import JSON

/// Our engine behind the lines of `scripts/peers/README.md`: `tocsin-bench engine-subject FOLDER`.
struct EngineSubject {
    private let documents: EngineDocuments
    private let service: EngineService
    private let data = EngineData(rows: 200)
    private let query: String

    init(folder: String) throws {
        documents = EngineDocuments(folder: URL(filePath: folder))
        service = try EngineService(sdl: documents.text("schema.graphql"))
        query = try documents.text("query.graphql")
    }

    /// Answers lines until there are no more.
    func run() async throws {
        say(["name": "Tocsin"])
        while let line = readLine() {
            guard let request = MeasurementRequest(line: line) else { throw BenchFailure("no request: \(line)") }
            if let row = EngineRow(rawValue: request.row) {
                say(try await measure(row, request).json(row: request.row))
            } else if let floor = EngineFloor(rawValue: request.row) {
                say(try await measure(floor, request).json(row: request.row))
            } else {
                say(["row": .string(request.row), "unsupported": "it has no such thing"])
            }
        }
    }

    private func say(_ value: JSONValue) {
        FileHandle.standardOutput.write(Data(value.serialized() + [UInt8(ascii: "\n")]))
    }

    private func measure(_ row: EngineRow, _ request: MeasurementRequest) async throws -> Measurement {
        switch row {
        case .parseOperations, .parseSchema, .parseQuery: return try await parsing(row.document, request)
        case .validateQuery:
            let document = try parse(query)
            return try await Measurement.take(request) { try validateOnce(document, times: $0) }
        case .parseAndValidate:
            return try await Measurement.take(request) { count in
                for _ in 0..<count { try validateOnce(try parse(query), times: 1) }
            }
        case .execute20, .execute200:
            return try await executing(query, variables: row == .execute20 ? 20 : 200, request)
        case .introspection:
            return try await executing(documents.text("introspection.graphql"), variables: nil, request)
        case .planCacheHit:
            let cache = PlanCache(schema: service.executable.schema)
            return try await Measurement.take(request) { count in
                for _ in 0..<count { _ = try cache.plan(text: query) }
            }
        case .wholeRequest: return try await wholeRequest(request)
        }
    }

    private func parsing(_ file: String?, _ request: MeasurementRequest) async throws -> Measurement {
        let bytes = try documents.bytes(file ?? "query.graphql")
        let definitions = try parse(bytes, limits: .unlimited).definitions.count
        var result = try await Measurement.take(request) { count in
            for _ in 0..<count { _ = try parse(bytes, limits: .unlimited) }
        }
        result.definitions = definitions
        return result
    }

    private func validateOnce(_ document: Document, times: Int) throws {
        for _ in 0..<times {
            let errors = validate(document, against: service.executable.schema)
            guard errors.isEmpty else { throw BenchFailure("the query is invalid: \(errors)") }
        }
    }

    private func executing(
        _ text: String,
        variables rows: Int?,
        _ request: MeasurementRequest
    ) async throws -> Measurement {
        let plan = try PlanCache(schema: service.executable.schema).plan(text: text)
        let variables = try rows.map(self.variables) ?? [:]
        let first = await service.executable.execute(plan, variables: variables, root: .root, context: data)
        guard !first.hadErrors else { throw BenchFailure("the query fails: \(first.errors)") }
        var result = await Measurement.take(request) { count in
            for _ in 0..<count {
                _ = await service.executable.execute(plan, variables: variables, root: .root, context: data)
            }
        }
        result.answer = "\(request.row).tocsin.json"
        try documents.write("\(request.row).tocsin.json", String(decoding: first.bytes, as: UTF8.self))
        return result
    }

    private func wholeRequest(_ request: MeasurementRequest) async throws -> Measurement {
        let executable = service.executable
        let variables = try variables(rows: 20)
        return try await Measurement.take(request) { count in
            for _ in 0..<count {
                let document = try parse(query)
                try validateOnce(document, times: 1)
                let plan = try ExecutionPlan.make(document: document, schema: executable.schema)
                _ = await executable.execute(plan, variables: variables, root: .root, context: data)
            }
        }
    }

    private func measure(_ floor: EngineFloor, _ request: MeasurementRequest) async throws -> Measurement {
        switch floor {
        case .checkedText:
            let bytes = try documents.bytes(EngineDocuments.largeOperationsFile)
            return try await Measurement.take(request) { count in
                for _ in 0..<count where String(validating: bytes, as: UTF8.self) == nil {
                    throw BenchFailure("the document is not UTF-8")
                }
            }
        case .source20, .source200:
            let rows = floor == .source20 ? 20 : 200
            return try await Measurement.take(request) { count in
                for _ in 0..<count where EngineService.rows(of: data, limit: rows).count != rows {
                    throw BenchFailure("the source gives other rows")
                }
            }
        case .byHand20, .byHand200: return try await byHand(rows: floor == .byHand20 ? 20 : 200, request)
        case .dictionaryHit:
            let dictionary = [query: 1]
            return try await Measurement.take(request) { count in
                for _ in 0..<count where dictionary[query] == nil { throw BenchFailure("the dictionary forgot") }
            }
        }
    }

    private func byHand(rows: Int, _ request: MeasurementRequest) async throws -> Measurement {
        let plan = try PlanCache(schema: service.executable.schema).plan(text: query)
        let expected = await service.executable.execute(
            plan,
            variables: try variables(rows: rows),
            root: .root,
            context: data
        ).bytes
        guard EngineService.writtenByHand(data, limit: rows, capacity: 256) == expected else {
            throw BenchFailure("the response by hand differs from the engine's")
        }
        return try await Measurement.take(request) { count in
            for _ in 0..<count {
                let bytes = EngineService.writtenByHand(data, limit: rows, capacity: expected.count)
                guard bytes.count == expected.count else { throw BenchFailure("the response by hand changed") }
            }
        }
    }

    private func variables(rows: Int) throws -> JSONObject {
        try JSONParser.parse(documents.text("variables-\(rows).json")).objectValue ?? [:]
    }
}
