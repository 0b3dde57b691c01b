import JSON

/// The keys and certificates of one simulator folder: made at the first start, read at later ones.
struct SimulatorKeys: Sendable {
    let folder: String
    let serverKeyPEM: [UInt8]
    let serverCertificatePEM: [UInt8]
    /// What APNs gives a team: signs provider tokens.
    let apnsKey: KeyPair
    /// What Google gives a service account: signs assertions.
    let accountKey: KeyPair
    /// The application server's key that browsers subscribe with.
    let vapidKey: KeyPair

    var authorityPath: String { folder + "/ca.pem" }
    var apnsKeyPath: String { folder + "/apns.p8" }
    var vapidKeyPath: String { folder + "/vapid-key.pem" }
    var accountPath: String { folder + "/service-account.json" }

    init(folder: String) throws(SimulatorError) {
        self.folder = folder
        try PrivateFile.makeFolder(folder)
        let authorityKey = try Self.key(folder + "/ca-key.pem") { () throws(SimulatorError) in try .makeP256() }
        let serverKey = try Self.key(folder + "/server-key.pem") { () throws(SimulatorError) in try .makeP256() }
        apnsKey = try Self.key(folder + "/apns.p8") { () throws(SimulatorError) in try .makeP256() }
        accountKey = try Self.key(folder + "/account-key.pem") { () throws(SimulatorError) in try .makeRSA2048() }
        vapidKey = try Self.key(folder + "/vapid-key.pem") { () throws(SimulatorError) in try .makeP256() }
        _ = try Self.certificate(folder + "/ca.pem") { () throws(SimulatorError) in
            try Certificate.makeAuthority(key: authorityKey)
        }
        serverCertificatePEM = try Self.certificate(folder + "/server.pem") { () throws(SimulatorError) in
            try Certificate.makeServer(key: serverKey, authorityKey: authorityKey)
        }
        serverKeyPEM = try serverKey.pem()
    }

    private static func key(
        _ path: String,
        make: () throws(SimulatorError) -> KeyPair
    ) throws(SimulatorError) -> KeyPair {
        if let pem = try PrivateFile.read(path) { return try KeyPair(pem: pem) }
        let key = try make()
        try PrivateFile.write(try key.pem(), to: path)
        return key
    }

    private static func certificate(
        _ path: String,
        make: () throws(SimulatorError) -> [UInt8]
    ) throws(SimulatorError) -> [UInt8] {
        if let pem = try PrivateFile.read(path), Certificate.isCurrent(pem: pem) { return pem }
        let pem = try make()
        try PrivateFile.write(pem, to: path)
        return pem
    }

    /// Writes the file that Google's console would hand out; its `token_uri` changes with the port.
    func writeAccount(projectID: String, tokenURI: String) throws(SimulatorError) {
        let account: JSONValue = [
            "type": "service_account",
            "project_id": .string(projectID),
            "private_key_id": .string(Self.accountKeyID),
            "private_key": .string(String(decoding: try accountKey.pem(), as: UTF8.self)),
            "client_email": .string(Self.accountEmail(projectID: projectID)),
            "client_id": "100000000000000000001",
            "token_uri": .string(tokenURI),
        ]
        try PrivateFile.write(account.serialized(), to: accountPath)
    }

    static let accountKeyID = "51a71a7e0000000000000000000000000000cafe"

    static func accountEmail(projectID: String) -> String {
        "tocsin@\(projectID).iam.gserviceaccount.com"
    }
}
