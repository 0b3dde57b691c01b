import Foundation
import JSON

/// What clients of AppSync's real-time protocol say.
enum AppSyncWords {
    static let subprotocol = "graphql-ws"

    /// The path with its credentials.
    static func path(_ token: String) -> String {
        let header = Data(#"{"host":"h","Authorization":"\#(token)"}"#.utf8).base64EncodedString()
        return "/graphql/realtime?header=\(header)&payload=e30="
    }

    static func start(_ id: String, _ document: String, token: String? = nil) -> JSONValue {
        let request: JSONValue = ["query": .string(document)]
        var payload: JSONObject = ["data": .string(request.serializedString())]
        if let token { payload["extensions"] = ["authorization": ["host": "h", "Authorization": .string(token)]] }
        return ["id": .string(id), "type": "start", "payload": .object(payload)]
    }
}
