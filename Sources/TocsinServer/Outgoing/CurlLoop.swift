import CCurl
import Synchronization
import TocsinCore
import TocsinStore

/// The thread that carries all calls with one multi handle of libcurl.
///
/// Others only put transfers into the inbox and wake the thread.
final class CurlLoop: Sendable {
    private struct Inbox {
        var submitted: [CurlTransfer] = []
        var cancelled: [CurlTransfer] = []
        var isStopped = false
    }

    private let inbox = Mutex(Inbox())
    private let caFile: String?
    /// Used by the thread alone, but for `curl_multi_wakeup`, which may be called from any thread
    /// while it lives; it is freed with the loop, which the thread keeps.
    ///
    /// Hence `nonisolated(unsafe)`.
    private nonisolated(unsafe) let multi: UnsafeMutableRawPointer?

    init(caFile: String?) {
        self.caFile = caFile
        _ = Self.libraryIsReady
        multi = curl_multi_init()
    }

    deinit {
        curl_multi_cleanup(multi)
    }

    /// libcurl asks for this once in a process, before its first use.
    private static let libraryIsReady = curl_global_init(Int(CURL_GLOBAL_ALL)) == CURLE_OK

    func start() {
        // Without a thread all calls fail at once.
        if !startThread("tocsin-outgoing", { [self] in run() }) { stop() }
    }

    func submit(_ transfer: CurlTransfer) {
        let isStopped = inbox.withLock { inbox in
            if !inbox.isStopped { inbox.submitted.append(transfer) }
            return inbox.isStopped
        }
        if isStopped {
            transfer.finish(.failed(reason: "the server is stopping"))
        } else {
            curl_multi_wakeup(multi)
        }
    }

    func cancel(_ transfer: CurlTransfer) {
        transfer.isCancelled.store(true, ordering: .releasing)
        inbox.withLock { $0.cancelled.append(transfer) }
        curl_multi_wakeup(multi)
    }

    func stop() {
        inbox.withLock { $0.isStopped = true }
        curl_multi_wakeup(multi)
    }

    private func run() {
        var running: [UnsafeMutableRawPointer: CurlTransfer] = [:]
        while let (submitted, cancelled) = takeInbox() {
            for transfer in submitted { begin(transfer, &running) }
            for transfer in cancelled { giveUp(transfer, reason: "the call was cancelled", &running) }
            var count: Int32 = 0
            curl_multi_perform(multi, &count)
            var outcome = CURLE_OK
            while let handle = tocsin_curl_next_finished(multi, &outcome) {
                guard let transfer = running.removeValue(forKey: handle) else { continue }
                let answer = transfer.answer(outcome)
                curl_multi_remove_handle(multi, handle)
                transfer.close()
                transfer.finish(answer)
            }
            curl_multi_poll(multi, nil, 0, 1000, nil)
        }
        for transfer in running.values { giveUp(transfer, reason: "the server is stopping", &running) }
        for transfer in inbox.withLock({ $0.submitted }) {
            transfer.finish(.failed(reason: "the server is stopping"))
        }
    }

    /// What came in since the last turn; nil once the loop is to stop.
    private func takeInbox() -> (submitted: [CurlTransfer], cancelled: [CurlTransfer])? {
        inbox.withLock { inbox in
            guard !inbox.isStopped else { return nil }
            defer { inbox = Inbox() }
            return (inbox.submitted, inbox.cancelled)
        }
    }

    private func begin(_ transfer: CurlTransfer, _ running: inout [UnsafeMutableRawPointer: CurlTransfer]) {
        guard !transfer.isCancelled.load(ordering: .acquiring) else {
            return transfer.finish(.failed(reason: "the call was cancelled"))
        }
        guard let handle = transfer.open(caFile: caFile), curl_multi_add_handle(multi, handle) == CURLM_OK else {
            transfer.close()
            transfer.finish(.failed(reason: "the address or a header of the call is not valid"))
            return
        }
        running[handle] = transfer
    }

    private func giveUp(
        _ transfer: CurlTransfer,
        reason: String,
        _ running: inout [UnsafeMutableRawPointer: CurlTransfer]
    ) {
        if let handle = running.first(where: { $0.value === transfer })?.key {
            running[handle] = nil
            curl_multi_remove_handle(multi, handle)
            transfer.close()
        }
        transfer.finish(.failed(reason: reason))
    }
}
