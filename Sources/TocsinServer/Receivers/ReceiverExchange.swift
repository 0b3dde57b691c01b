import HTTPTypes
import TocsinCore
import TocsinHTTP
import TocsinReceivers

// From HTTP to what receivers read, and back.
extension ReceiverRequest {
    /// A request as it came, with the header fields that its receiver may look at.
    init(_ incoming: IncomingRequest, headers: [Item], body: [UInt8], receivedAt: Timestamp) {
        let query = incoming.queryString
        self.init(
            method: incoming.method.rawValue,
            target: incoming.path + (query.isEmpty ? "" : "?" + query),
            headers: headers,
            body: body,
            receivedAt: receivedAt
        )
    }
}

extension OutgoingResponse {
    /// A receiver's answer, which nobody on its way keeps.
    init(_ answer: ReceiverAnswer) {
        self.init(
            status: HTTPResponse.Status(code: answer.status),
            contentType: answer.contentType,
            fields: [("cache-control", "no-store")]
                + answer.headers.map { (name: $0.name.lowercased(), value: $0.value) },
            body: answer.body
        )
    }
}
