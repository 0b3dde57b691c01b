import Foundation
import JSON

/// A key of a sign-in provider, made and used with the openssl command, so that nothing of the
/// server's own signs what the server verifies.
struct SigningKey {
    enum Kind { case rsa, ec }

    let id: String
    let kind: Kind
    private let path: String
    private let folder: String

    init(_ kind: Kind, id: String, folder: String) async throws {
        self.kind = kind
        self.id = id
        self.folder = folder
        path = "\(folder)/\(UUID().uuidString).pem"
        let options =
            switch kind {
            case .rsa: ["RSA", "-pkeyopt", "rsa_keygen_bits:2048"]
            case .ec: ["EC", "-pkeyopt", "ec_paramgen_curve:P-256"]
            }
        try await OpenSSL.run(["genpkey", "-out", path, "-algorithm"] + options, folder: folder)
    }

    var algorithm: String { kind == .rsa ? "RS256" : "ES256" }

    /// The public key as a member of a key set (RFC 7517 §4).
    func publicMember() async throws -> JSONValue {
        var member: JSONObject = ["kid": .string(id), "use": "sig", "alg": .string(algorithm)]
        switch kind {
        case .rsa:
            let modulus = try await OpenSSL.run(["rsa", "-in", path, "-noout", "-modulus"], folder: folder)
            let digits = modulus.split(separator: "=").last?.filter(\.isHexDigit) ?? ""
            member["kty"] = "RSA"
            member["n"] = .string(Data(hexDigits: digits).base64URL)
            member["e"] = "AQAB"
        case .ec:
            let file = "\(path).der"
            try await OpenSSL.run(["pkey", "-in", path, "-pubout", "-outform", "DER", "-out", file], folder: folder)
            let point = try Data(contentsOf: URL(fileURLWithPath: file)).suffix(64)
            member["kty"] = "EC"
            member["crv"] = "P-256"
            member["x"] = .string(Data(point.prefix(32)).base64URL)
            member["y"] = .string(Data(point.suffix(32)).base64URL)
        }
        return .object(member)
    }

    /// The public key in PEM.
    func publicText() async throws -> String {
        try await OpenSSL.run(["pkey", "-in", path, "-pubout"], folder: folder)
    }

    /// A signed token; the key's id may be given as another.
    func token(_ claims: JSONObject, keyID: String? = nil) async throws -> String {
        let header: JSONValue = ["alg": .string(algorithm), "kid": .string(keyID ?? id), "typ": "JWT"]
        let signed = CompactText.unsigned(header, claims)
        let signature = try await OpenSSL.signature(["-sha256", "-sign", path], of: signed, folder: folder)
        return signed + "." + (kind == .rsa ? signature : try Self.joined(signature)).base64URL
    }

    /// ECDSA's two numbers of 32 bytes, out of the DER that openssl writes (RFC 7518 §3.4).
    private static func joined(_ der: Data) throws -> Data {
        let bytes = Array(der)
        var index = 2
        var whole = Data()
        for _ in 0..<2 {
            guard index + 2 <= bytes.count, bytes[index] == 2 else { throw HarnessFailure("This is no signature.") }
            let end = index + 2 + Int(bytes[index + 1])
            guard end <= bytes.count else { throw HarnessFailure("This is no signature.") }
            let number = bytes[index + 2..<end].suffix(32)
            whole += [UInt8](repeating: 0, count: 32 - number.count) + number
            index = end
        }
        return whole
    }
}

/// Tokens under a shared secret.
enum SharedSecret {
    static func token(_ claims: JSONObject, secret: String, folder: String) async throws -> String {
        let header: JSONValue = ["alg": "HS256", "typ": "JWT"]
        let signed = CompactText.unsigned(header, claims)
        let key = Data(secret.utf8).map { byte in
            let digits = String(byte, radix: 16)
            return digits.count == 1 ? "0" + digits : digits
        }.joined()
        let options = ["-sha256", "-mac", "HMAC", "-macopt", "hexkey:\(key)"]
        return signed + "." + (try await OpenSSL.signature(options, of: signed, folder: folder)).base64URL
    }
}

private enum CompactText {
    static func unsigned(_ header: JSONValue, _ claims: JSONObject) -> String {
        [header, .object(claims)].map { Data($0.serialized()).base64URL }.joined(separator: ".")
    }
}

private enum OpenSSL {
    @discardableResult
    static func run(_ arguments: [String], folder: String) async throws -> String {
        let result = try await ChildProcess.run(
            "/usr/bin/openssl",
            arguments,
            environment: TestBinary.environment,
            folder: folder
        )
        guard result.status == 0 else { throw HarnessFailure("openssl \(arguments[0]): \(result.errors)") }
        return result.output
    }

    static func signature(_ options: [String], of text: String, folder: String) async throws -> Data {
        let file = "\(folder)/\(UUID().uuidString)"
        try Data(text.utf8).write(to: URL(fileURLWithPath: file))
        try await run(["dgst"] + options + ["-binary", "-out", file + ".sig", file], folder: folder)
        return try Data(contentsOf: URL(fileURLWithPath: file + ".sig"))
    }
}

extension Data {
    fileprivate init(hexDigits: String) {
        let digits = hexDigits.compactMap(\.hexDigitValue)
        self.init(stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] * 16 + digits[$0 + 1]) })
    }
}

extension Data {
    /// Base 64 for URLs, without padding (RFC 4648 §5).
    var base64URL: String {
        base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }
}
