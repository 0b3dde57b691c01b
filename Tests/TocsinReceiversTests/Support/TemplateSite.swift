import Foundation
import JSON
import TocsinCore
import TocsinReceivers

/// Templates and requests as tests write them.
enum TemplateSite {
    /// When every request comes: 2026-11-28T03:04:05Z.
    static let now = Timestamp(milliseconds: 1_795_835_045_000)

    static func context(secret: [UInt8]? = nil) -> ReceiverContext {
        let integration = Integration(
            id: "i-1",
            owner: "ann",
            name: "Monitoring",
            kind: .template,
            topicID: TopicID("t-1")
        )
        var context = ReceiverContext(
            integration: integration,
            topicName: "alerts",
            sha256: { bytes in [UInt8](repeating: UInt8(truncatingIfNeeded: bytes.count), count: 32) },
            hmacSHA256: { key, message in Array((key + message.prefix(32)).prefix(32)) }
        )
        context.signatureSecret = secret
        return context
    }

    /// UTC alone.
    static let zones: ZoneLookup = { $0 == "UTC" ? .utc : nil }

    static func template(_ text: String) throws(TemplateProblem) -> ReceiverTemplate {
        guard let value = try? JSONParser.parse(text) else { throw TemplateProblem("the test's template is no JSON") }
        return try ReceiverTemplate(value, zones: zones)
    }

    static func request(
        _ body: String,
        headers: [String: String] = ["Content-Type": "application/json"],
        target: String = "/in/KEY"
    ) -> ReceiverRequest {
        ReceiverRequest(
            method: "POST",
            target: target,
            headers: headers.map { ReceiverRequest.Item($0.key, $0.value) },
            body: Array(body.utf8),
            receivedAt: now
        )
    }

    /// The receivers that ship.
    static let shipped: ReceiverReading = {
        let file = URL(filePath: #filePath).appending(path: "../../../../schema/receivers.json").standardized
        let text = (try? String(decoding: Data(contentsOf: file), as: UTF8.self)) ?? ""
        return ReceiverReading(text, file: "receivers.json", zones: zones)
    }()
}
