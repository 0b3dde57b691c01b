import Foundation

/// How files that settings name are read, and what is known of them.
package struct SettingsFiles: Sendable {
    /// Why a file could not be read, as the end of a sentence.
    package struct Failure: Error, Sendable {
        package let reason: String

        package init(reason: String) {
            self.reason = reason
        }
    }

    /// The contents of a file of at most 1 MiB.
    package var read: @Sendable (_ path: String) throws(Failure) -> [UInt8]
    /// Whether users other than the file's owner and group may read it.
    package var isOpenToOthers: @Sendable (_ path: String) -> Bool
    /// In a container other users do not count: mounted secrets are often readable by all.
    package var isInContainer: Bool

    package init(
        read: @escaping @Sendable (_ path: String) throws(Failure) -> [UInt8],
        isOpenToOthers: @escaping @Sendable (_ path: String) -> Bool,
        isInContainer: Bool
    ) {
        self.read = read
        self.isOpenToOthers = isOpenToOthers
        self.isInContainer = isInContainer
    }

    /// The files of this machine.
    package static func system(environment: [String: String]) -> SettingsFiles {
        SettingsFiles(
            read: { (path) throws(Failure) in try contents(of: path) },
            isOpenToOthers: { path in
                // Of the file itself, not of a link to it. One whose mode cannot be asked for cannot be read either, which
                // is reported elsewhere.
                var status = stat()
                return stat(path, &status) == 0 && status.st_mode & 0o004 != 0
            },
            isInContainer: environment["container"] != nil || environment["KUBERNETES_SERVICE_HOST"] != nil
                || ["/.dockerenv", "/run/.containerenv"].contains { FileManager.default.fileExists(atPath: $0) }
        )
    }

    /// What is said of a secret that others may read; `name` is the setting's.
    package static func openFileSentence(_ path: String, name: String) -> String {
        "\(name): the file \(path) may be read by other users. Run: chmod 600 \(path)"
    }

    private static let maximumBytes = 1 << 20

    private static func contents(of path: String) throws(Failure) -> [UInt8] {
        var isDirectory: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory) else {
            throw Failure(reason: "there is no such file")
        }
        guard !isDirectory.boolValue else { throw Failure(reason: "it is a directory") }
        guard let file = FileHandle(forReadingAtPath: path) else {
            throw Failure(reason: "this user may not read it")
        }
        defer { try? file.close() }
        do {
            let bytes = try file.read(upToCount: maximumBytes + 1) ?? Data()
            guard bytes.count <= maximumBytes else { throw Failure(reason: "it is larger than 1 MiB") }
            return Array(bytes)
        } catch let failure as Failure {
            throw failure
        } catch {
            throw Failure(reason: "it cannot be read: \(error.localizedDescription)")
        }
    }
}
