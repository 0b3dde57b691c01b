import JSON

/// Receivers read from a data file, each checked as far as it can be before the first request.
package struct ReceiverReading: Sendable {
    /// Those without problems, in the order of the file.
    package private(set) var receivers: [ReceiverTemplate] = []
    /// Sentences that name the file, the receiver, the rule, the member and the character.
    package private(set) var problems: [String] = []

    private static let maximumReceivers = 500

    /// Reads a file's text.
    package init(_ text: String, file: String, zones: @escaping ZoneLookup) {
        do throws(JSONError) {
            let root = try JSONParser.parse(text)
            guard let declared = root["receivers"]?.arrayValue, root.objectValue?.count == 1 else {
                problems.append("\(file): a file of receivers is an object, {\"receivers\": […]}.")
                return
            }
            guard declared.count <= Self.maximumReceivers else {
                problems.append(
                    "\(file): there are \(declared.count) receivers; at most \(Self.maximumReceivers) are taken."
                )
                return
            }
            for (index, value) in declared.enumerated() { read(value, number: index + 1, file, zones) }
        } catch {
            problems.append("\(file) is not JSON: \(error).")
        }
    }

    private mutating func read(_ value: JSONValue, number: Int, _ file: String, _ zones: @escaping ZoneLookup) {
        let name = value["name"]?.stringValue.map { "receiver \($0.prefix(64))" } ?? "receiver \(number)"
        do throws(TemplateProblem) {
            guard value["name"] != nil else { throw TemplateProblem("\"name\" is missing, such as \"uptime-kuma\"") }
            let receiver = try ReceiverTemplate(value, zones: zones)
            guard !receivers.contains(where: { $0.name == receiver.name }) else {
                throw TemplateProblem("another receiver of this file has this name. Remove one of them")
            }
            receivers.append(receiver)
        } catch {
            problems.append("\(file): \(name): \(error.text).")
        }
    }
}
