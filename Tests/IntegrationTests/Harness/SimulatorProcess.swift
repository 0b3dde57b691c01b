import Foundation
import JSON

/// `tocsin simulator` in a folder.
struct SimulatorProcess {
    let process: ChildProcess
    /// What a server needs to push there.
    let environment: [String: String]
    private let control: String
    private let folder: String

    /// Starts the simulator and waits until it is ready.
    init(folder: String, options: [String] = []) async throws {
        self.folder = folder
        let readyFile = folder + "/simulator.ready"
        try await AccountKey.copy(to: folder + "/simulator")
        process = try ChildProcess(
            try TestBinary.path(),
            ["simulator", "--directory", folder + "/simulator", "--ready-file", readyFile] + options,
            environment: TestBinary.environment,
            folder: folder
        )
        let ready = try JSONParser.parse(try await process.contents(of: readyFile))
        control = ready["control"]?.stringValue ?? ""
        vapidKey = ready["vapidKey"]?.stringValue ?? ""
        let members = ready["environment"]?.objectValue ?? [:]
        environment = Dictionary(uniqueKeysWithValues: members.map { ($0.key, $0.value.stringValue ?? "") })
    }

    /// The key that browsers subscribe with.
    let vapidKey: String

    /// A browser subscribes, and meets a scripted fault if one is named.
    func subscribe(script: String? = nil) async throws -> JSONValue {
        let result = try await ChildProcess.run(
            "/usr/bin/curl",
            [
                "--silent", "--show-error", "--max-time", Patience.ofCurl, "--request", "POST",
                "\(control)/_subscribe" + (script.map { "?script=\($0)" } ?? ""),
            ],
            environment: TestBinary.environment,
            folder: folder
        )
        return try JSONParser.parse(result.output)
    }

    /// The pushes seen so far.
    func pushes() async throws -> [SeenPush] {
        try await get("/_pushes?since=0").arrayValue?.map(SeenPush.init) ?? []
    }

    /// What a page of the control address says.
    func get(_ path: String) async throws -> JSONValue { try await ask(path, []) }

    /// Does something to the providers.
    @discardableResult
    func post(_ path: String, _ body: JSONValue? = nil) async throws -> JSONValue {
        try await ask(path, ["--request", "POST"] + (body.map { ["--data-binary", $0.serializedString()] } ?? []))
    }

    private func ask(_ path: String, _ arguments: [String]) async throws -> JSONValue {
        let result = try await ChildProcess.run(
            "/usr/bin/curl",
            ["--silent", "--show-error", "--max-time", Patience.ofCurl] + arguments + ["\(control)\(path)"],
            environment: TestBinary.environment,
            folder: folder
        )
        guard result.status == 0 else { throw HarnessFailure("The simulator's control address: \(result.errors)") }
        let answer = try JSONParser.parse(result.output)
        if let error = answer["error"]?.stringValue { throw HarnessFailure("\(path): \(error)") }
        return answer
    }
}

/// A push as the simulator saw it.
struct SeenPush: CustomStringConvertible {
    let record: JSONValue
    init(_ record: JSONValue) { self.record = record }

    var token: String { record["token"]?.stringValue ?? "" }
    var isAccepted: Bool { record["accepted"]?.boolValue ?? false }
    var title: String { text("title") }
    var body: String { text("body") }
    var description: String {
        "\(record["provider"]?.stringValue ?? "") \(token.prefix(8)): \(title), \(record["reason"]?.stringValue ?? "accepted")"
    }

    /// From Apple's alert, or from FCM's notification or data.
    private func text(_ key: String) -> String {
        let payload = record["payload"]
        let message = payload?["message"]
        let sources = [
            payload?["aps"]?["alert"], message?["apns"]?["payload"]?["aps"]?["alert"], message?["notification"],
            message?["data"],
        ]
        return sources.compactMap { $0?[key]?.stringValue }.first ?? ""
    }
}

/// The RSA key of the simulator's service account, made once: to find its primes takes a simulator
/// more of the processor than all else that it does.
private enum AccountKey {
    private static let pem = Task {
        try await ChildProcess.run(
            "/usr/bin/openssl",
            ["genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048"],
            environment: TestBinary.environment,
            folder: NSTemporaryDirectory()
        ).output
    }

    static func copy(to folder: String) async throws {
        let path = folder + "/account-key.pem"
        guard !FileManager.default.fileExists(atPath: path) else { return }
        let text = try await pem.value
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
    }
}
