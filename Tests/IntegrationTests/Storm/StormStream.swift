import Foundation
import JSON

/// How a subscriber of the storm follows.
enum StormCarrier: String, CaseIterable {
    case transportWS, appSync, eventStream
}

/// What a connection brought.
enum StormEvent {
    /// A message, and the cursor that its carrier gave with it.
    case message(JSONValue, cursor: String?)
    /// The subscription was refused or ended, with this error.
    case failed(JSONValue)
    /// The connection is over.
    case ended(String)
}

/// One connection with one subscription that is looked at and never waited for.
protocol StormStream: AnyObject {
    func look() throws -> StormEvent?
}

/// What is asked for: a topic or all, from a cursor.
struct StormQuestion {
    var port: Int
    var token: String
    var topicID: String?
    var cursor: String
    /// Whether the messages' texts are asked for.
    var isGreedy = false
    /// Whether the system is to take little for a reader that stalls.
    var hasSmallWindow = false

    var request: JSONValue {
        var variables: JSONObject = ["a": .string(cursor)]
        if let topicID { variables["t"] = .string(topicID) }
        let fields = "topicId number cursor title" + (isGreedy ? " body" : "")
        let query = "subscription($t: ID, $a: String) { onCreateMessage(topicId: $t, after: $a) { \(fields) } }"
        return ["query": .string(query), "variables": .object(variables)]
    }

    func open(_ carrier: StormCarrier) async throws -> any StormStream {
        switch carrier {
        case .transportWS: try await StormSocket(self)
        case .appSync: try await StormAppSync(self)
        case .eventStream: try StormEventStream(self)
        }
    }
}

/// `graphql-transport-ws`.
private final class StormSocket: StormStream {
    private let socket: RawSocket

    init(_ question: StormQuestion) async throws {
        socket = try await RawSocket(
            port: question.port,
            path: "/graphql",
            subprotocols: "graphql-transport-ws",
            hasSmallWindow: question.hasSmallWindow
        )
        let credentials: JSONValue = ["Authorization": .string("Bearer \(question.token)")]
        try socket.send(["type": "connection_init", "payload": credentials])
        guard case .message(let answer) = try await socket.next(), answer["type"] == "connection_ack" else {
            throw HarnessFailure("The connection was not acknowledged.")
        }
        try socket.send(["id": "1", "type": "subscribe", "payload": question.request])
    }

    func look() throws -> StormEvent? {
        try socket.lookForEvent(named: "next") { $0[0] }
    }
}

/// AppSync's protocol.
private final class StormAppSync: StormStream {
    private let socket: RawSocket

    init(_ question: StormQuestion) async throws {
        let header = Data(#"{"host":"h","Authorization":"\#(question.token)"}"#.utf8).base64EncodedString()
        let path = "/graphql/realtime?header=\(header)&payload=e30="
        socket = try await RawSocket(
            port: question.port,
            path: path,
            subprotocols: "graphql-ws",
            hasSmallWindow: question.hasSmallWindow
        )
        try socket.send(["type": "connection_init"])
        while true {
            guard case .message(let answer) = try await socket.next(), answer["type"] != "connection_error" else {
                throw HarnessFailure("The connection was not acknowledged.")
            }
            if answer["type"] == "connection_ack" { break }
        }
        let payload: JSONValue = [
            "data": .string(question.request.serializedString()),
            "extensions": ["authorization": ["host": "h", "Authorization": .string(question.token)]],
        ]
        try socket.send(["id": "1", "type": "start", "payload": payload])
    }

    func look() throws -> StormEvent? {
        try socket.lookForEvent(named: "data") { $0["errors"]?[0] }
    }
}

extension RawSocket {
    /// What has come: responses are messages of this type, and an error's
    /// payload has the error there.
    fileprivate func lookForEvent(named type: String, error: (JSONValue) -> JSONValue?) throws -> StormEvent? {
        switch try look() {
        case nil: return nil
        case .end?: return .ended("no close frame")
        case .close(let code, let reason)?: return .ended("\(code) \(reason)")
        case .message(let message)?:
            switch message["type"]?.stringValue {
            case type:
                let event = message["payload"]?["data"]?["onCreateMessage"] ?? .null
                return .message(event, cursor: event["cursor"]?.stringValue)
            case "error": return .failed(message["payload"].flatMap(error) ?? .null)
            case "complete": return .ended("complete")
            default: return nil
            }
        }
    }
}

/// Server-sent events; it goes on by `Last-Event-ID`, and its first `after` never changes.
private final class StormEventStream: StormStream {
    private let connection: RawConnection
    private var body: [UInt8] = []
    private var hasHead = false

    init(_ question: StormQuestion) throws {
        connection = try RawConnection(port: question.port, hasSmallWindow: question.hasSmallWindow)
        let text = question.request.serializedString()
        try connection.send(
            "POST /graphql HTTP/1.1\r\nHost: 127.0.0.1:\(question.port)\r\nAuthorization: Bearer \(question.token)\r\n"
                + "Accept: text/event-stream\r\nContent-Type: application/json\r\nLast-Event-ID: \(question.cursor)\r\n"
                + "Content-Length: \(text.utf8.count)\r\n\r\n\(text)"
        )
    }

    func look() throws -> StormEvent? {
        connection.look()
        try takeChunks()
        while let end = body.firstRange(of: Array("\n\n".utf8)) {
            let lines = String(decoding: body[..<end.lowerBound], as: UTF8.self).split(separator: "\n")
            body.removeSubrange(..<end.upperBound)
            if lines.contains("event: complete") { return .ended("complete") }
            guard let data = lines.first(where: { $0.hasPrefix("data: ") })?.dropFirst(6) else { continue }
            let response = try JSONParser.parse(String(data))
            if let error = response["errors"]?[0] { return .failed(error) }
            let id = lines.first { $0.hasPrefix("id: ") }?.dropFirst(4)
            return .message(response["data"]?["onCreateMessage"] ?? .null, cursor: id.map(String.init))
        }
        return connection.isAtEnd ? .ended("end of stream") : nil
    }

    /// Takes the chunked body out of what came (RFC 9112 §7.1).
    private func takeChunks() throws {
        let lineEnd: [UInt8] = [13, 10]
        if !hasHead {
            guard let end = connection.received.firstRange(of: lineEnd + lineEnd) else { return }
            let head = String(decoding: connection.received[..<end.lowerBound], as: UTF8.self)
            guard head.hasPrefix("HTTP/1.1 200 ") else { throw HarnessFailure("No stream: \(head)") }
            connection.drop(end.upperBound)
            hasHead = true
        }
        while let end = connection.received.firstRange(of: lineEnd) {
            let size = String(decoding: connection.received[..<end.lowerBound], as: UTF8.self)
            guard let count = Int(size, radix: 16) else { throw HarnessFailure("A chunk of size \(size).") }
            guard count > 0, connection.received.count >= end.upperBound + count + 2 else { return }
            body += connection.received[end.upperBound..<end.upperBound + count]
            connection.drop(end.upperBound + count + 2)
        }
    }
}
