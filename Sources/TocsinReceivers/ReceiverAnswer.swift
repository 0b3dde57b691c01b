package import JSON

/// What a sender gets back.
package struct ReceiverAnswer: Sendable, Equatable {
    /// The HTTP status.
    package var status: Int
    /// Headers beside `Content-Type` and `Content-Length`.
    package var headers: [ReceiverRequest.Item]
    /// The body's type; nil: there is no body.
    package var contentType: String?
    /// The body.
    package var body: [UInt8]

    /// An answer of JSON.
    package init(_ status: Int, json: JSONValue, headers: [ReceiverRequest.Item] = []) {
        (self.status, self.headers) = (status, headers)
        (contentType, body) = ("application/json", json.serialized())
    }

    /// An answer of plain text.
    package init(_ status: Int, text: String, headers: [ReceiverRequest.Item] = []) {
        (self.status, self.headers) = (status, headers)
        (contentType, body) = ("text/plain; charset=utf-8", Array(text.utf8))
    }

    /// An answer without a body.
    package init(_ status: Int, headers: [ReceiverRequest.Item] = []) {
        (self.status, self.headers, contentType, body) = (status, headers, nil, [])
    }
}
