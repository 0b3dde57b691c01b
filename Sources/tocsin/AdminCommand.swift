import ArgumentParser
import Glibc
import JSON
import TocsinServer

/// `tocsin admin`: speaks to the running server of a data directory.
struct AdminCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "admin",
        abstract: "Look at a running server, and tell it what to do.",
        discussion: """
            It speaks to the server's admin listener: the socket `admin.sock` in its data directory, \
            unless TOCSIN_ADMIN_LISTEN names another. Only the server's own user and root may use it.

            EXAMPLES
              tocsin admin state --data-dir /var/lib/tocsin
              tocsin admin ready && echo "it takes requests"
              tocsin admin drain --seconds 10

            EXIT STATUS
              0 done, 1 failed or not ready, 2 wrong use
            """,
        subcommands: [
            State.self, Settings.self, Ready.self, Reload.self, LogLevel.self, Drain.self, Backup.self,
            Checkpoint.self,
        ]
    )

    struct State: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Print what the server has in hand, as JSON.")
        @OptionGroup var options: AdminOptions

        func run() async throws { try options.printed("GET", "/admin/state", timeoutSeconds: 30) }
    }

    struct Settings: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print the running server's settings as JSON, secrets masked, with where each came from."
        )
        @OptionGroup var options: AdminOptions

        func run() async throws { try options.printed("GET", "/admin/settings", timeoutSeconds: 30) }
    }

    struct Ready: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Ask whether the server takes requests; exit status 1 if not.",
            discussion: "Fit for the health check of a container."
        )
        @Flag(help: "Print all details.") var verbose = false
        @OptionGroup var options: AdminOptions

        func run() async throws {
            let answer = try options.answer("GET", verbose ? "/readyz?verbose" : "/readyz", nil, timeoutSeconds: 10)
            let status = answer.json?["status"]?.stringValue ?? "status \(answer.status)"
            print(verbose ? answer.json?.serializedString() ?? status : status)
            guard answer.isOK else { throw CommandFailure("The server is not ready: \(status).") }
        }
    }

    struct Reload: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Have the server read anew what it can while it runs, as SIGHUP does."
        )
        @OptionGroup var options: AdminOptions

        func run() async throws { try options.printed("POST", "/admin/reload", timeoutSeconds: 60) }
    }

    struct LogLevel: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "log-level",
            abstract: "Log more or less, for a while."
        )
        @Argument(help: "trace, debug, info, notice, warning, error or critical.") var level: String
        @Option(name: .customLong("for"), help: "For how long, such as 10m; then it goes back.") var time: String?
        @Option(help: "Of which part alone, such as push.") var only: String?
        @OptionGroup var options: AdminOptions

        func run() async throws {
            var members: JSONObject = ["level": .string(level)]
            if let time { members["for"] = .string(time) }
            if let only { members["only"] = .string(only) }
            try options.printed("POST", "/admin/log-level", .object(members), timeoutSeconds: 30)
        }
    }

    struct Drain: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Stop the server as SIGTERM does, once balancers have seen that it is not ready.",
            discussion: "It exits with status 0 then, so that a service manager leaves it stopped."
        )
        @Option(help: "For how long it still takes connections (TOCSIN_DRAIN_SECONDS unless given).") var seconds:
            Double?
        @OptionGroup var options: AdminOptions

        func run() async throws {
            let body: JSONValue = seconds.map { ["seconds": .double($0)] } ?? [:]
            try options.printed("POST", "/admin/drain", body, timeoutSeconds: 30)
        }
    }

    struct Backup: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Have the server copy its SQLite database to a file.",
            discussion: "The server's user writes the file. `tocsin backup` does the same without a running server."
        )
        @Argument(help: "The file that the copy becomes.") var file: String
        @Flag(help: "Replace the file if it is there.") var force = false
        @OptionGroup var options: AdminOptions

        func run() async throws {
            let path = file.hasPrefix("/") ? file : Self.folder + "/" + file
            let body: JSONValue = ["file": .string(path), "replace": .bool(force)]
            try options.printed("POST", "/admin/backup", body, timeoutSeconds: nil)
        }

        private static var folder: String {
            guard let path = getcwd(nil, 0) else { return "" }
            defer { free(path) }
            return String(cString: path)
        }
    }

    struct Checkpoint: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Have the server bring SQLite's log into the database file."
        )
        @OptionGroup var options: AdminOptions

        func run() async throws { try options.printed("POST", "/admin/checkpoint", timeoutSeconds: 600) }
    }
}

/// Which server is meant.
struct AdminOptions: ParsableArguments {
    @OptionGroup var store: StoreOptions

    @Option(help: "Where the server listens for us: unix:PATH or ADDRESS:PORT (TOCSIN_ADMIN_LISTEN).")
    var adminListen: String?

    @Option(help: "The file with the token that is shown over the network (TOCSIN_ADMIN_TOKEN_FILE).")
    var adminTokenFile: String?

    /// Sends a request and prints the answer's JSON.
    func printed(_ method: String, _ path: String, _ body: JSONValue? = nil, timeoutSeconds: Int?) throws {
        let answer = try answer(method, path, body, timeoutSeconds: timeoutSeconds)
        guard answer.isOK else { throw CommandFailure(answer.fault) }
        print(answer.json?.serializedString() ?? String(decoding: answer.body, as: UTF8.self))
    }

    func answer(
        _ method: String,
        _ path: String,
        _ body: JSONValue?,
        timeoutSeconds: Int?
    ) throws -> AdminClient.Answer {
        var flags = store.flags
        flags["admin-listen"] = adminListen
        flags["admin-token-file"] = adminTokenFile
        let settings = try SettingsLoading.load(flags: flags).settings
        do throws(AdminClient.Failure) {
            let client = AdminClient(try AdminClient.address(of: settings), token: settings.admin.token)
            return try client.send(method, path, body, timeoutSeconds: timeoutSeconds)
        } catch {
            throw CommandFailure(error.description)
        }
    }
}
