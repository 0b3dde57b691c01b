import Foundation
import JSON

/// What a browser sends to a server: its cookies and the headers of a page of the server's own.
struct BrowserScene {
    let installation: Installation
    var cookie: String?
    var origin: String

    init(_ installation: Installation) {
        self.installation = installation
        origin = installation.address
    }

    /// The headers of our own pages.
    var own: [String: String] {
        [
            "Content-Type": "application/json", "X-Tocsin-Console": "1", "Sec-Fetch-Site": "same-origin",
            "Origin": origin,
        ]
    }

    /// Posts JSON; `headers` in place of those of our own pages.
    func post(_ path: String, _ body: JSONValue = [:], _ headers: [String: String]? = nil) async throws -> HTTPAnswer {
        try await installation.http(path, arguments(headers ?? own) + ["--data-binary", body.serializedString()])
    }

    func get(_ path: String, _ headers: [String: String]? = nil) async throws -> HTTPAnswer {
        try await installation.http(path, arguments(headers ?? ["X-Tocsin-Console": "1"]))
    }

    private func arguments(_ headers: [String: String]) -> [String] {
        var all = headers
        if let cookie { all["Cookie"] = cookie }
        return all.sorted { $0.key < $1.key }.flatMap { ["--header", "\($0.key): \($0.value)"] }
    }

    /// Takes the cookie of an answer as a browser would.
    mutating func take(_ answer: HTTPAnswer) {
        cookie = answer.header("set-cookie").map { String($0.prefix { $0 != ";" }) }
    }

    /// Makes the first administrator with the code of the log, as the set-up form does.
    static func setUp(_ installation: Installation, name: String, password: String) async throws -> HTTPAnswer {
        let code = try await eventually("the set-up code is told") {
            installation.logLines.compactMap { $0["setup_code"]?.stringValue }.first
        }
        return try await setUp(installation, code: code, name: name, password: password)
    }

    static func setUp(
        _ installation: Installation,
        code: String,
        name: String,
        password: String
    ) async throws -> HTTPAnswer {
        try await installation.http(
            "/auth/setup",
            [
                "--data-urlencode", "code=\(code)", "--data-urlencode", "username=\(name)", "--data-urlencode",
                "password=\(password)",
            ]
        )
    }

    /// The log's lines about refused sign-ins.
    static func refusals(_ installation: Installation) -> [String] {
        installation.logLines.filter { $0["message"] == "a sign-in was refused" }
            .compactMap { $0["reason"]?.stringValue }
    }

    /// The audit's rows about refused sign-ins, the first one first.
    static func auditedRefusals(_ installation: Installation) async throws -> [String] {
        let text = try await installation.administer(
            ["audit", "list", "--json", "--limit", "0", "--action", "session.refused"]
        )
        return try text.split(separator: "\n").compactMap {
            let detail = try JSONParser.parse(String($0))["detail"]
            let members = try detail?.stringValue.map { try JSONParser.parse($0) } ?? detail
            return members?["reason"]?.stringValue
        }.reversed()
    }
}
