import Foundation
import JSON
import TocsinCore
import TocsinReceivers

private let when = Timestamp(milliseconds: 1_795_835_045_000)

private func context(_ kind: Integration.Kind) -> ReceiverContext {
    let topic = TopicID("t-1")
    return ReceiverContext(
        integration: Integration(id: "i-1", owner: "ann", name: "Monitoring", kind: kind, topicID: topic),
        topicName: "alerts",
        sha256: { bytes in [UInt8](repeating: UInt8(truncatingIfNeeded: bytes.count), count: 32) },
        hmacSHA256: { key, message in Array((key + message.prefix(32)).prefix(32)) }
    )
}

/// A template, a NUL, and the body that it gets: what can be saved makes bounded events of it.
func fuzzTemplate(_ bytes: [UInt8]) {
    let parts = bytes.split(separator: 0, maxSplits: 1, omittingEmptySubsequences: false)
    guard let value = try? JSONParser.parse(Array(parts[0])),
        let template = try? ReceiverTemplate(value, zones: { $0 == "UTC" ? .utc : nil })
    else { return }
    check(TemplateReceiver(template), .template, Array(parts.dropFirst().first ?? []), "application/json")
}

/// A byte that chooses receiver and type, and a body.
func fuzzReceiver(_ bytes: [UInt8]) {
    guard let first = bytes.first else { return }
    let kinds = Integration.Kind.allCases.filter { Receivers.of($0) != nil }
    let kind = kinds[Int(first & 0x3F) % kinds.count]
    let types = [
        "application/json", "application/x-www-form-urlencoded", "multipart/form-data; boundary=b", "message/rfc822",
    ]
    guard let receiver = Receivers.of(kind) else { return }
    check(receiver, kind, Array(bytes.dropFirst()), types[Int(first >> 6)])
}

private func check(_ receiver: any Receiver, _ kind: Integration.Kind, _ body: [UInt8], _ type: String) {
    let request = ReceiverRequest(
        method: "POST",
        target: "/in/KEY",
        headers: [ReceiverRequest.Item("Content-Type", type)],
        body: body,
        receivedAt: when
    )
    switch receiver.read(request, in: context(kind)) {
    case .events(let events, _):
        for event in events {
            require(event.title.utf8.count <= SenderEvent.maximumTitleBytes, "A title is too long.")
            require(event.body.utf8.count <= SenderEvent.maximumBodyBytes, "A body is too long.")
            require(event.labels.count <= SenderEvent.maximumLabels, "There are too many labels.")
            require((event.key?.unicodeScalars.count ?? 1) <= SenderEvent.maximumKeyCharacters, "A key is too long.")
            require(event.alerts.count <= SenderEvent.maximumAlerts, "There are too many alerts.")
        }
    case .refused(let fault): require(receiver.answer(fault, to: request).status < 500, "A refusal is no refusal.")
    case .answered(let answer): require(answer.status < 500, "An answer is none.")
    }
}
