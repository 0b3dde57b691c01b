import Foundation
import JSON
import Testing
import TocsinCore
import TocsinReceivers

/// What a sender has posted, with the events that it must become: a file of `Receivers/`.
struct RecordedRequest: CustomTestStringConvertible {
    let receiver: String
    let file: URL
    let contents: JSONObject

    var testDescription: String { "\(receiver)/\(file.deletingPathExtension().lastPathComponent)" }

    private static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "Receivers")

    /// All of them, by name.
    static let all: [RecordedRequest] = {
        let manager = FileManager.default
        let names = (try? manager.contentsOfDirectory(atPath: folder.path())) ?? []
        return names.sorted().flatMap { receiver -> [RecordedRequest] in
            let files = (try? manager.contentsOfDirectory(atPath: folder.appending(path: receiver).path())) ?? []
            return files.sorted().compactMap { name -> RecordedRequest? in
                let file = folder.appending(path: "\(receiver)/\(name)")
                guard let data = try? Data(contentsOf: file), let value = try? JSONParser.parse(Array(data)),
                    let contents = value.objectValue
                else { return nil }
                return RecordedRequest(receiver: receiver, file: file, contents: contents)
            }
        }
    }()

    /// What was posted.
    var body: [UInt8] {
        contents["request"]?["text"]?.stringValue.map { Array($0.utf8) } ?? contents["request"]?["body"]?.serialized()
            ?? []
    }

    /// The request with another body.
    func request(with body: [UInt8]) -> ReceiverRequest {
        let recorded = contents["request"]
        let headers = (recorded?["headers"]?.objectValue ?? [:]).map {
            ReceiverRequest.Item($0.key, $0.value.stringValue ?? "")
        }
        return ReceiverRequest(
            method: "POST",
            target: recorded?["target"]?.stringValue ?? "/in/KEY",
            headers: headers,
            body: body,
            receivedAt: TemplateSite.now
        )
    }

    /// The file as it should be: the request, and what the template makes of it.
    func result(of template: ReceiverTemplate) -> JSONObject {
        let (receiver, request) = (TemplateReceiver(template), request(with: body))
        var result: JSONObject = ["request": contents["request"] ?? .null]
        switch receiver.read(request, in: TemplateSite.context()) {
        case .events(let events, let notes):
            result["events"] = .array(events.map(EventListing.json))
            if !notes.isEmpty { result["notes"] = .array(notes.map { .string($0) }) }
            let accepted = AcceptedEvents(
                events: events,
                outcomes: events.map { EventOutcome(key: $0.key) },
                integration: TemplateSite.context().integration,
                topicName: "alerts"
            )
            let answer = receiver.answer(accepted, to: request)
            if template.hasAnswer { result["answer"] = (try? JSONParser.parse(answer.body)) ?? .null }
        case .refused(let fault): result["refused"] = .string("\(fault)")
        case .answered: result["refused"] = "answered"
        }
        return result
    }
}
