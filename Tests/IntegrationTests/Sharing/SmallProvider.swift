import Foundation
import JSON
import Testing

/// A sign-in provider that misbehaves when it is told to.
final class SmallProvider {
    let process: ChildProcess
    let issuer: String

    init(folder: String) async throws {
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("Clients/oidc/small.py").path
        process = try ChildProcess(
            "/usr/bin/python3",
            [script, folder],
            environment: TestBinary.environment,
            folder: folder
        )
        issuer =
            try JSONParser.parse(try await process.contents(of: folder + "/provider.ready"))["issuer"]?
            .stringValue ?? ""
    }

    func behave(_ behaviour: JSONValue, folder: String) async throws {
        _ = try await ChildProcess.run(
            "/usr/bin/curl",
            ["--silent", "--data-binary", behaviour.serializedString(), issuer + "/behave"],
            environment: TestBinary.environment,
            folder: folder
        )
    }
}

/// A sign-in under way in one browser.
struct ProviderVisit {
    let cookie: String
    let state: String
    let nonce: String

    /// Where a browser was sent, with the login cookie that it was given.
    init(location: String, cookie: String) {
        let query = URLComponents(string: location)?.queryItems ?? []
        func value(_ name: String) -> String { query.first { $0.name == name }?.value ?? "" }
        #expect(value("code_challenge_method") == "S256", "\(location)")
        (self.cookie, state, nonce) = (cookie, value("state"), value("nonce"))
    }

    static func begin(_ installation: Installation, returnTo path: String = "/") async throws -> ProviderVisit {
        let answer = try await installation.http("/auth/login?return=\(path)")
        #expect(answer.status == 303, "\(answer)")
        let set = answer.header("set-cookie") ?? ""
        #expect(set.hasPrefix("tocsin-login-") && set.hasSuffix("; HttpOnly; SameSite=Lax"), "\(set)")
        return ProviderVisit(location: answer.header("location") ?? "", cookie: String(set.prefix { $0 != ";" }))
    }

    static func finish(
        _ installation: Installation,
        cookie: String?,
        state: String,
        code: String,
        issuer: String
    ) async throws -> HTTPAnswer {
        var arguments: [String] = []
        if let cookie { arguments = ["--header", "Cookie: \(cookie)"] }
        return try await installation.http("/auth/callback?code=\(code)&state=\(state)&iss=\(issuer)", arguments)
    }
}
