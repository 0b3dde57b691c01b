import Dispatch
import Foundation
import GraphQL
import JSON

// What libFuzzer calls with every input it makes up. The environment's FUZZ_TARGET names the part
// of the engine that gets it: language, schema, validation or execution;
// or that of the receivers: templates, or receivers.

private let target = ProcessInfo.processInfo.environment["FUZZ_TARGET"] ?? "language"

/// The entry libFuzzer looks for.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    switch target {
    case "schema": fuzzSchema(bytes)
    case "validation": fuzzValidation(bytes)
    case "execution": fuzzExecution(bytes)
    case "templates": fuzzTemplate(bytes)
    case "receivers": fuzzReceiver(bytes)
    default: fuzzLanguage(bytes)
    }
    return 0
}

/// Ends the run with what was expected; libFuzzer keeps the input.
func require(_ condition: Bool, _ expectation: String) {
    precondition(condition, expectation)
}

/// What parses prints, and what was printed parses to the same tree.
private func fuzzLanguage(_ bytes: [UInt8]) {
    guard let document = try? parse(bytes) else { return }
    let printed = printDocument(document)
    guard let again = try? parse(printed, limits: .unlimited) else {
        return require(false, "The printed document does not parse: \(printed)")
    }
    require(printDocument(again) == printed, "The printed document prints differently: \(printed)")
    guard let before = tree(bytes), let after = tree(Array(printed.utf8)) else { return }
    require(before == after, "The printed document has another tree: \(printed)")
}

private func tree(_ bytes: [UInt8]) -> JSONValue? {
    guard let text = try? syntaxTree(of: bytes, limits: .unlimited) else { return nil }
    let limits = JSONLimits(
        maximumBytes: 100_000_000,
        maximumDepth: 1000,
        maximumValues: 10_000_000,
        maximumNumberLength: 400
    )
    return (try? JSONParser.parse(text, limits: limits)).map(withoutLocations)
}

/// Without locations, and without the difference between block strings and others,
/// which printing may change.
private func withoutLocations(_ value: JSONValue) -> JSONValue {
    switch value {
    case .array(let values): return .array(values.map(withoutLocations))
    case .object(let members):
        var result = JSONObject()
        for member in members where member.key != "loc" { result[member.key] = withoutLocations(member.value) }
        return .object(result)
    default: return value
    }
}

/// A schema that can be built prints as one that is the same.
private func fuzzSchema(_ bytes: [UInt8]) {
    guard let document = try? parse(bytes), let schema = try? Schema(documents: [document]) else { return }
    let printed = schema.printed()
    guard let again = try? Schema(sdl: printed) else {
        return require(false, "The printed schema cannot be built: \(printed)")
    }
    require(again.printed() == printed, "The printed schema prints differently: \(printed)")
}

private func fuzzValidation(_ bytes: [UInt8]) {
    guard let schema = fuzzedSchema, let document = try? parse(bytes) else { return }
    let errors = validate(document, against: schema)
    let unlimited = validate(document, against: schema, limits: .specification, suggests: false)
    require(!errors.isEmpty || unlimited.isEmpty, "Wider limits found more: \(unlimited)")
}

/// Executes what is valid with data and variables that depend on the input
/// alone, some of them wrong.
private func fuzzExecution(_ bytes: [UInt8]) {
    guard let schema = fuzzedSchema, let document = try? parse(bytes), !document.operations.isEmpty,
        validate(document, against: schema, limits: .specification).isEmpty
    else { return }
    let seed = bytes.reduce(UInt64(14_695_981_039_346_656_037)) { ($0 ^ UInt64($1)) &* 1_099_511_628_211 }
    let name = document.operations[Int(seed % UInt64(document.operations.count))].name
    guard let plan = try? ExecutionPlan.make(document: document, operationName: name, schema: schema) else { return }
    guard let executable = FuzzedData.executable(schema) else { return }
    let data = FuzzedData(seed: seed, schema: schema)
    let variables = data.variables(of: document.operations)
    let done = DispatchSemaphore(value: 0)
    // libFuzzer calls synchronously; there is nothing to do meanwhile.
    Task.detached {
        let result = await executable.execute(plan, variables: variables, root: .object([:]), context: data)
        let response = try? JSONParser.parse(result.bytes)
        require(response?["data"] != nil || response?["errors"] != nil, "The response is no response.")
        done.signal()
    }
    done.wait()
}

/// The schema documents are validated against; the file is named by the environment, as it is data.
let fuzzedSchema: Schema? = {
    guard let path = ProcessInfo.processInfo.environment["FUZZ_SCHEMA"],
        let text = FileManager.default.contents(atPath: path)
    else { return nil }
    return try? Schema(sdl: String(decoding: text, as: UTF8.self))
}()
