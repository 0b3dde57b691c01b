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
                let attributes = try? FileManager.default.attributesOfItem(atPath: path)
                // A file whose mode cannot be asked for cannot be read either, which is reported elsewhere.
                let mode = (attributes?[.posixPermissions] as? NSNumber)?.intValue ?? 0
                return mode & 0o004 != 0
            },
            isInContainer: environment["container"] != nil || environment["KUBERNETES_SERVICE_HOST"] != nil
                || ["/.dockerenv", "/run/.containerenv"].contains { FileManager.default.fileExists(atPath: $0) }
        )
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
