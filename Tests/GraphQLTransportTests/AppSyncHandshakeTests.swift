import Foundation
import GraphQLTransport
import Testing

@Suite("AppSync handshake")
struct AppSyncHandshakeTests {
    private static let upgrade = Credentials(authorization: "plain", remoteAddress: "10.0.0.1")

    private func read(_ queryString: String, _ offered: [String] = ["graphql-ws"]) -> AppSyncHandshake {
        AppSyncHandshake.read(queryString: queryString, offered: offered, upgrade: Self.upgrade)
    }

    private static func base64(_ text: String) -> String { Data(text.utf8).base64EncodedString() }

    private static func withToken(_ token: String) -> AppSyncHandshake {
        .credentials(Credentials(authorization: token, remoteAddress: "10.0.0.1"))
    }

    @Test(
        "the parameter is read in every spelling that clients use",
        arguments: [
            #"{"host":"h","Authorization":"t"}"#, #"{"AUTHORIZATION":"Bearer t","host":"h"}"#,
            #"{"authorization":"t","extra":[1]}"#,
        ]
    )
    func parameter(json: String) {
        let encoded = Self.base64(json)
        let spellings = [
            encoded, encoded.replacing("=", with: ""), encoded.replacing("=", with: "%3D"),
            encoded.replacing("+", with: "-").replacing("/", with: "_"),
            encoded.replacing("+", with: "%2B").replacing("/", with: "%2F"),
        ]
        for spelling in spellings {
            #expect(read("header=\(spelling)&payload=e30=") == Self.withToken("t"))
            #expect(read("payload=e30=&header=\(spelling)") == Self.withToken("t"))
        }
    }

    @Test("a plus is a plus")
    func plus() {
        // Chosen so that its base64 has a plus and a slash.
        let json = #"{"Authorization":"o?>~~?>???>>"}"#
        let encoded = Self.base64(json)
        #expect(encoded.contains("+") && encoded.contains("/"))
        #expect(read("header=\(encoded)") == Self.withToken("o?>~~?>???>>"))
    }

    @Test("the forms are taken in their order: parameter, subprotocol, fields")
    func order() {
        let first = Self.base64(#"{"Authorization":"first"}"#)
        let second = "header-" + Self.base64(#"{"x-api-key":"second"}"#).replacing("=", with: "")
        #expect(read("header=\(first)", ["graphql-ws", second]) == Self.withToken("first"))
        let key = Credentials(apiKey: "second", remoteAddress: "10.0.0.1")
        #expect(read("other=1", ["graphql-ws", second]) == .credentials(key))
        #expect(read("", [second, "graphql-ws"]) == .credentials(key))
        #expect(read("") == .credentials(Self.upgrade))
        #expect(read("headers=x") == .credentials(Self.upgrade))
    }

    @Test("an object without credentials is no reason to look further")
    func empty() {
        #expect(read("header=e30=") == .credentials(Credentials(remoteAddress: "10.0.0.1")))
    }

    @Test(
        "what cannot be read is malformed",
        arguments: [
            "", "=", "!!!", "e30==", "e3", "e", "W10=", "%zz", "e30=%", "eyJBdXRob3JpemF0aW9uIjo3fQ==",
            "e30" + String(repeating: "A", count: 60_000),
        ]
    )
    func malformed(value: String) {
        #expect(read("header=\(value)") == .malformed)
    }

    @Test("without the subprotocol nothing is looked at")
    func noProtocol() {
        #expect(read("header=e30=", []) == .noProtocol)
        #expect(read("", ["graphql-transport-ws"]) == .noProtocol)
    }
}
