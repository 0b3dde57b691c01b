import JSON

/// A service account's key file, as the Firebase console makes it.
struct GoogleCredentials {
    let projectID: String?
    let clientEmail: String
    let privateKey: String
    let privateKeyID: String?
    let tokenURI: String?

    /// Reads the file; the failure says what is missing.
    init(json contents: [UInt8]) throws(SettingProblem) {
        let value: JSONValue
        do throws(JSONError) {
            value = try JSONParser.parse(contents)
        } catch {
            throw "it is not JSON; it must be the key file of a service account, as the Firebase console makes it"
        }
        if let kind = value["type"]?.stringValue, kind != "service_account" {
            throw SettingProblem(
                "it holds credentials of the type \(kind); the key file of a service account is needed"
            )
        }
        guard let email = value["client_email"]?.stringValue, let key = value["private_key"]?.stringValue else {
            throw "it has no client_email and private_key; it must be the key file of a service account"
        }
        if let problem = SettingRules.fcmKeyProblem(key) {
            throw SettingProblem("its private_key is wrong: " + problem.text)
        }
        if let uri = value["token_uri"]?.stringValue, let problem = SettingRules.addressProblem(uri) {
            throw SettingProblem("its token_uri is wrong: " + problem.text)
        }
        projectID = value["project_id"]?.stringValue
        clientEmail = email
        privateKey = key
        privateKeyID = value["private_key_id"]?.stringValue
        tokenURI = value["token_uri"]?.stringValue
    }
}
