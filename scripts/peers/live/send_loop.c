// The floor of `tocsin-bench live`: sends frames of one size to many sockets by plain send(2), waiting by epoll for those
// that are full. Arguments: how many sockets, the bytes of a frame. Prints its port; then each line on standard input
// is how many frames, joined, every socket gets in one round.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <netinet/tcp.h>
#include <unistd.h>

enum { most = 64 };

static void fail(const char *what) {
    perror(what);
    exit(1);
}

static int listening(void) {
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    if (fd < 0 || bind(fd, (struct sockaddr *)&address, length) || listen(fd, 1024)) fail("listen");
    getsockname(fd, (struct sockaddr *)&address, &length);
    printf("%d\n", ntohs(address.sin_port));
    fflush(stdout);
    return fd;
}

static void send_all(int fd, int epoll, const char *bytes, size_t count) {
    while (count > 0) {
        ssize_t sent = send(fd, bytes, count, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent > 0) {
            bytes += sent;
            count -= (size_t)sent;
        } else if (sent < 0 && errno == EAGAIN) {
            struct epoll_event event = {.events = EPOLLOUT};
            epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
            epoll_wait(epoll, &event, 1, 1000);
            epoll_ctl(epoll, EPOLL_CTL_DEL, fd, NULL);
        } else {
            fail("send");
        }
    }
}

int main(int argc, char **argv) {
    int count = argc > 2 ? atoi(argv[1]) : 0, size = argc > 2 ? atoi(argv[2]) : 0;
    if (count < 1 || size < 130 || size > 65535) return 2;
    struct rlimit files;
    getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
    char *frames = malloc((size_t)size * most);
    int *sockets = malloc(sizeof(int) * (size_t)count);
    if (!frames || !sockets) fail("malloc");
    memset(frames, 'x', (size_t)size * most);
    for (int index = 0; index < most; index++) {
        unsigned char *head = (unsigned char *)frames + (size_t)index * (size_t)size;
        head[0] = 0x81, head[1] = 126, head[2] = (unsigned char)((size - 4) >> 8), head[3] = (unsigned char)(size - 4);
    }
    int listener = listening(), epoll = epoll_create1(EPOLL_CLOEXEC), on = 1;
    for (int index = 0; index < count; index++) {
        sockets[index] = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (sockets[index] < 0) fail("accept");
        setsockopt(sockets[index], IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    }
    char line[32];
    while (fgets(line, sizeof line, stdin)) {
        int joined = atoi(line);
        if (joined < 1 || joined > most) return 2;
        for (int index = 0; index < count; index++)
            send_all(sockets[index], epoll, frames, (size_t)size * (size_t)joined);
    }
    return 0;
}
