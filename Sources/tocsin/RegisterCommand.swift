import ArgumentParser
import JSON
import TocsinAuth
import TocsinClient
import TocsinContent
import TocsinCore

/// `tocsin register`: a device of the caller's, with a wallet's proof where one is wanted.
struct RegisterCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "register",
        abstract: "Register a device's push token at a running server.",
        discussion: """
            Registering again changes nothing. With --sign the server is asked for a challenge, and the key of a wallet \
            in a file signs that the device belongs to its address: see docs/signed-registration.md. The key stays on \
            this machine.

            EXAMPLES
              tocsin register --platform ios --token 00ff…
              tocsin register --platform android --token c1Xs:APA91… --name "Ada's phone"
              tocsin register --platform ios --token 00ff… --sign eip191 --key wallet.key

            ENVIRONMENT
              TOCSIN_URL    the server's address
              TOCSIN_TOKEN  a token of the user whose device it is

            EXIT STATUS
              0 registered, 1 failed, 2 wrong use
            """
    )

    @Option(help: "ios, android or web.")
    var platform: String

    @Option(help: "The push token, as the provider gave it to the app.")
    var token: String

    @Option(help: "sandbox or production; iOS only.")
    var environment: String?

    @Option(help: "The app's bundle id or project.")
    var appID: String?

    @Option(help: "The id that the device got before, where its token has changed.")
    var deviceID: String?

    @Option(help: "What its owner calls the device.")
    var name: String?

    @Option(help: "How a wallet signs: eip191 (its text) or eip712 (typed data).")
    var sign: String?

    @Option(help: "A file with the wallet's private key, 64 hexadecimal digits, that nobody else may read.")
    var key: String?

    @Option(help: "The server's address. Default: $TOCSIN_URL, else http://127.0.0.1:8080.")
    var server: String?

    @Option(help: "The token to sign in with. Default: $TOCSIN_TOKEN, which other users of the machine cannot see.")
    var signInToken: String?

    @Option(help: "A PEM file with further certificate authorities to trust.")
    var caFile: String?

    @Flag(help: "Print the answer as one JSON object.")
    var json = false

    func validate() throws {
        if (sign == nil) != (key == nil) {
            throw ValidationError("--sign and --key go together: give both, or neither.")
        }
        if sign != nil, scheme == nil { throw ValidationError("--sign \(sign ?? "") is not eip191 or eip712.") }
    }

    func run() async throws {
        let signer = try signer()
        let client = try ClientOptions.makeClient(
            server: server,
            token: signInToken,
            caFile: caFile,
            flag: "--sign-in-token"
        )
        var device = DeviceRegistration(token: token, platform: platform)
        device.environment = environment
        device.appID = appID
        device.deviceID = deviceID
        device.name = name
        let wanted = device
        try await runClient {
            let registration =
                if let signer {
                    try await client.registerPushToken(wanted, signedBy: signer)
                } else {
                    try await client.registerPushToken(wanted)
                }
            let object: JSONValue = [
                "userId": .string(registration.userID), "devices": .int(Int64(registration.pushTokens.count)),
                "address": signer.map { .string($0.address) } ?? .null,
            ]
            let proof = signer.map { ", proven by \($0.address)" } ?? ""
            Terminal.print(json ? object.serializedString() : "registered for \(registration.userID)\(proof)")
        }
        client.close()
    }

    /// How the wallet signs; nil for other words.
    private var scheme: ProofScheme? {
        sign.flatMap { ProofScheme(rawValue: $0.uppercased()) }.flatMap { $0.isWallet ? $0 : nil }
    }

    private func signer() throws -> WalletKey? {
        guard let scheme, let key else { return nil }
        do throws(KeyError) {
            return try WalletKey.load(from: key, scheme: scheme)
        } catch {
            throw CommandFailure(error.description)
        }
    }
}
