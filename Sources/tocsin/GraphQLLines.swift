import Glibc
import JSON

/// The GraphQL tool fed with many calls: one JSON request a line, one JSON answer a line, in order.
enum GraphQLLines {
    private static let limits = JSONLimits(
        maximumBytes: 200_000_000,
        maximumDepth: 8,
        maximumValues: 10_000,
        maximumNumberLength: 64
    )

    /// Answers until standard input ends; `common` come before the arguments of each line.
    static func run(_ common: [String]) async {
        var tool = GraphQLTool()
        // Bytes and not `readLine()`, which mends what is no UTF-8 before anybody can refuse it.
        guard let input = fdopen(STDIN_FILENO, "r") else { return }
        var start: UnsafeMutablePointer<CChar>?
        var capacity = 0
        defer { free(start) }
        while case let count = getline(&start, &capacity, input), count > 0 {
            let line = Array(UnsafeRawBufferPointer(start: start, count: count))
            guard line.contains(where: { $0 > UInt8(ascii: " ") }) else { continue }
            let answer = await answer(line, common, &tool)
            var writer = JSONWriter(capacity: answer.out.count + 64)
            writer.raw("{\"exit\":")
            writer.int(Int64(answer.exit))
            writer.raw(",\"out\":")
            writer.string(String(decoding: answer.out, as: UTF8.self))
            writer.raw("}\n")
            Terminal.write(writer.bytes)
        }
    }

    private static func answer(
        _ line: [UInt8],
        _ common: [String],
        _ tool: inout GraphQLTool
    ) async -> GraphQLTool.Answer {
        let request: JSONValue
        do {
            request = try JSONParser.parse(line, limits: limits)
        } catch {
            return .refusal("The line is no JSON: \(error)")
        }
        guard let arguments = request["args"]?.arrayValue?.compactMap(\.stringValue) else {
            return .refusal("A line needs \"args\", a list of texts.")
        }
        var files: [String: String] = [:]
        for file in request["files"]?.objectValue ?? [:] { files[file.key] = file.value.stringValue }
        return await tool.answer(common + arguments, files: files)
    }
}
