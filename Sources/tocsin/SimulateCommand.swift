import ArgumentParser
import FoundationEssentials
import JSON
import TocsinClient

/// `tocsin simulate`: a test notification for one user's devices, or for everybody's.
struct SimulateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "simulate",
        abstract: "Send a test notification to the devices of a user.",
        discussion: """
            The notification is kept in the user's own topic, so that their feed and history have it too, and is pushed to \
            all their devices. Without -u, -t leader reaches everybody's devices. The token is one made for pushing \
            (`tocsin token create --user NAME --push`), which reaches every user, or the user's own.

            EXAMPLES
              tocsin simulate -u ada
              tocsin simulate -u ada -t comment -r /posts/7 -n "New comment" -b "Bo: nice one"
              tocsin simulate -t leader -r / -n "A new leader" -b "Ada leads"

            ENVIRONMENT
              TOCSIN_URL    the server's address
              TOCSIN_TOKEN  a token for pushing, or one of the user
              TOCSIN_SITE   where links such as /posts/7 lead

            EXIT STATUS
              0 stored, 1 failed, 2 wrong use
            """
    )

    @Option(name: .shortAndLong, help: "The user, by name or id; left out with -t leader: everybody.")
    var user: String?

    @Option(name: .shortAndLong, help: "The message's type: a word (upvote, comment, leader…) or a number.")
    var type = "generic"

    @Option(name: .shortAndLong, help: "The deep link: a path of the site, / for its root, or a whole address.")
    var resource: String?

    @Option(name: [.customShort("n"), .long], help: "The line people see first.")
    var title = "Test notification"

    @Option(name: .shortAndLong, help: "The text.")
    var body = "Sent by tocsin simulate."

    @Option(help: "Where paths lead: the site's address. Default: $TOCSIN_SITE, else the server's address.")
    var site: String?

    @OptionGroup var client: ClientOptions

    @Flag(help: "Print the answer as one JSON object.")
    var json = false

    static let document = """
        mutation Simulate(
          $user: String, $everybody: Boolean, $inbox: Boolean, $type: Int, $typeName: String, $url: AWSURL, $title: String!,
          $body: String
        ) {
          sendPush(
            user: $user, everybody: $everybody, inbox: $inbox, type: $type, typeName: $typeName, url: $url, title: $title,
            body: $body
          ) { messageId devices message { number topicId } }
        }
        """

    func validate() throws {
        if title.isEmpty { throw ValidationError("--title is empty. Give the line people should see.") }
        if type.isEmpty { throw ValidationError("--type is empty. Give a word or a number.") }
        guard user != nil || type.lowercased() == "leader" else {
            throw ValidationError("-u is missing. Only -t leader goes to everybody; give the user, by name or id.")
        }
    }

    func run() async throws {
        let link = try link()
        try await client.run { client in
            let receipt = try await push(client, link)
            let (id, devices) = (receipt?["messageId"]?.stringValue ?? "", receipt?["devices"]?.intValue ?? 0)
            let object: JSONValue = [
                "id": .string(id), "number": receipt?["message"]?["number"] ?? .null,
                "topicId": receipt?["message"]?["topicId"] ?? .null, "devices": .int(devices),
            ]
            Terminal.print(
                json ? object.serializedString() : "\(id) to \(devices) \(devices == 1 ? "device" : "devices")"
            )
            if devices == 0 {
                Terminal.remark("\(user ?? "Nobody") has no device that is active: nothing is pushed.")
            }
        }
    }

    private func push(_ client: TocsinClient, _ link: String?) async throws -> JSONValue? {
        do throws(ClientError) {
            return try await client.mutate(Self.document, variables: variables(link))["sendPush"]
        } catch {
            guard error.code == .unauthorized else { throw error }
            throw CommandFailure(
                "This token may not push to \(user ?? "everybody"). `tocsin token create --user NAME --push` makes one that "
                    + "reaches every user; a user's own reaches that user."
            )
        }
    }

    private func variables(_ link: String?) -> JSONObject {
        var variables: JSONObject = ["title": .string(title), "body": .string(body), "inbox": true]
        if let user { variables["user"] = .string(user) } else { variables["everybody"] = true }
        if let number = Int32(type) {
            variables["type"] = .int(Int64(number))
        } else {
            variables["typeName"] = .string(type)
        }
        if let link { variables["url"] = .string(link) }
        return variables
    }

    /// The deep link as an address: a path is one of the site's.
    private func link() throws -> String? {
        guard let resource, !resource.isEmpty else { return nil }
        if resource.contains("://") { return resource }
        let environment = ProcessInfo.processInfo.environment
        var site = site ?? environment["TOCSIN_SITE"] ?? client.address
        guard site.contains("://") else {
            throw ValidationError("--site \(site) is no address. Write it with its scheme, like https://example.com.")
        }
        while site.hasSuffix("/") { site.removeLast() }
        return site + (resource.hasPrefix("/") ? "" : "/") + resource
    }
}
