extension SettingTable {
    static let admin: [SettingDefinition] = [
        .init(
            "admin-listen",
            "The admin listener (docs/admin.md): unix:PATH, 127.0.0.1:9464, several with commas, or off; admin.sock in the data directory unless set.",
            copy: SettingDefinition.copying(\.admin.listening)
        ) { text, settings in
            switch SettingRules.adminListening(text) {
            case .success(let listening):
                settings.admin.listening = listening
                return nil
            case .failure(let problem): return problem
            }
        } text: { settings in
            switch settings.admin.listening {
            case .standard: nil
            case .off: "off"
            case .at(let addresses): addresses.map(\.description).joined(separator: ",")
            }
        },
        .secret(
            "admin-token",
            \.admin.token,
            "What callers of the admin listener show over the network; needed for addresses beyond this machine.",
            check: SettingRules.adminTokenProblem
        ),
        .seconds(
            "drain-seconds",
            \.server.drainSeconds,
            0...600,
            "How long connections are still taken after SIGTERM, while /readyz says no."
        ),
        .init(
            "base-path",
            "What all paths of the server begin with, such as /tocsin, for a proxy that serves other pages too.",
            copy: SettingDefinition.copying(\.server.basePath)
        ) { text, settings in
            if let problem = SettingRules.basePathProblem(text) { return problem }
            settings.server.basePath = text == "/" ? "" : text
            return nil
        } text: {
            $0.server.basePath.isEmpty ? nil : $0.server.basePath
        },
        .init(
            "console",
            "The web console at /: on, off, or a folder with files of one's own in place of those that ship.",
            copy: SettingDefinition.copying(\.server.console)
        ) { text, settings in
            guard text == "on" || text == "off" || text.contains("/") else {
                return "write on, off, or the path of a folder"
            }
            settings.server.console = text
            return nil
        } text: {
            $0.server.console
        },
        .init(
            "socket-mode",
            "The rights of the socket's file where host is unix:PATH, as chmod writes them.",
            copy: SettingDefinition.copying(\.server.socketMode)
        ) { text, settings in
            guard let mode = Int(text, radix: 8), (1...0o777).contains(mode) else {
                return "write three digits as chmod takes them, such as 660 or 666"
            }
            settings.server.socketMode = mode
            return nil
        } text: {
            String($0.server.socketMode, radix: 8)
        },
    ]
}
