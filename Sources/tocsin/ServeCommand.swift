import ArgumentParser
import Foundation
import Logging
import TocsinServer

/// The command `tocsin serve`.
struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Run the server.",
        discussion: """
            Every setting is a flag (--port 9000), an environment variable (TOCSIN_PORT) and a key of a settings file
            (--config tocsin.toml); a flag wins over the environment, the environment over the file. `tocsin settings` lists
            them. SIGTERM or SIGINT stops the server gracefully; a second one at once.

              tocsin serve --port 8080 --data-dir /var/lib/tocsin
            """
    )

    @Option(name: .customLong("ready-file"), help: "Write the server's address to this file once it accepts requests.")
    var readyFile: String?

    @OptionGroup var options: SettingsOptions

    func run() async throws {
        let signals = StopSignals()
        let loaded = try SettingsLoading.load(flags: try options.flags())
        for warning in loaded.warnings { StandardError.write("tocsin: warning: \(warning)\n") }
        let application: Application
        do {
            application = try await Application(settings: loaded.settings)
        } catch {
            throw CommandFailure(error.description)
        }
        let address: String
        do {
            address = try await application.start()
        } catch {
            await application.stop()
            throw CommandFailure(error.description)
        }
        if let readyFile {
            do {
                try Data(address.utf8).write(to: URL(filePath: readyFile), options: .atomic)
            } catch {
                await application.stop()
                throw CommandFailure("The ready file \(readyFile) cannot be written: \(error.localizedDescription)")
            }
        }
        await signals.first()
        await application.stop()
    }
}
