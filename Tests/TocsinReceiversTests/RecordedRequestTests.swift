import Foundation
import JSON
import Testing
import TocsinCore
import TocsinReceivers

/// What real senders posted, with what becomes of it; `UPDATE_GOLDEN=1` writes the outcome anew.
@Suite("Recorded requests")
struct RecordedRequestTests {
    static let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Recorded")

    static let names: [String] = {
        let files = (try? FileManager.default.contentsOfDirectory(atPath: folder.path())) ?? []
        return files.filter { $0.hasSuffix(".json") }.sorted()
    }()

    @Test("a recorded request becomes the events and the answer that stand beside it", arguments: names)
    func recorded(name: String) throws {
        let file = Self.folder.appending(path: name)
        var record = try #require(JSONParser.parse(Array(Data(contentsOf: file))).objectValue)
        let kind = try #require(record["kind"]?.stringValue.flatMap(Integration.Kind.init(rawValue:)))
        let grouping = record["grouping"]?.stringValue.flatMap(Integration.Grouping.init(rawValue:))
        let sent = try #require(record["request"])
        let request = Sample.request(
            try #require(sent["method"]?.stringValue),
            try #require(sent["target"]?.stringValue),
            headers: (sent["headers"]?.arrayValue ?? []).map { ($0[0]?.stringValue ?? "", $0[1]?.stringValue ?? "") },
            body: try #require(sent["body"]?.stringValue)
        )
        let receiver = try #require(Receivers.of(kind))
        let reading = receiver.read(request, in: Sample.context(kind, grouping: grouping))
        let events = try #require(reading.events)
        let answer = receiver.answer(Sample.accepted(events, Sample.integration(kind)), to: request)
        let outcome: JSONValue = [
            "events": .array(events.map(EventText.json)), "notes": .array(reading.notes.map(JSONValue.string)),
            "answer": .string("\(answer.status) \(answer.contentType ?? "-") \(answer.text)"),
        ]
        if ProcessInfo.processInfo.environment["UPDATE_GOLDEN"] == "1" {
            record["outcome"] = outcome
            let data = try JSONSerialization.jsonObject(with: Data(JSONValue.object(record).serialized()))
            let options: JSONSerialization.WritingOptions = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
            try (JSONSerialization.data(withJSONObject: data, options: options) + [0x0A]).write(to: file)
        } else {
            let expected = try #require(record["outcome"])
            #expect(sorted(outcome) == sorted(expected), "\(outcome.serializedString())")
        }
    }

    @Test("there are recorded requests")
    func some() { #expect(Self.names.count > 40) }

    /// The value with the members of its objects by name, whatever their order was.
    private func sorted(_ value: JSONValue) -> JSONValue {
        switch value {
        case .array(let values): .array(values.map(sorted))
        case .object(let object):
            .object(JSONObject(object.sorted { $0.key < $1.key }.map { ($0.key, sorted($0.value)) }))
        default: value
        }
    }
}
