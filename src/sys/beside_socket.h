/* beside_socket.h: what a process of a parallel job and the agent of its machine say to each other, when the process begins a command beside another process of
 * its job: packets on a socket in the job's own folder, whose first byte is their sort.
 *
 *     process -> agent   BESIDE_OPEN    the number of the other process (4 bytes, lowest first), then the words of the command, each with its NUL
 *                        BESIDE_INPUT   bytes for it         BESIDE_ENDS   there are no more         BESIDE_SIGNAL   a byte, the signal's number
 *     agent -> process   BESIDE_OUTPUT, BESIDE_ERROR   bytes that it has written         BESIDE_OVER   its status (4 bytes), then words, if it was not begun */
#ifndef BERTH_SYS_BESIDE_SOCKET_H
#define BERTH_SYS_BESIDE_SOCKET_H

#define BESIDE_NAME ".berth-beside" /* of the socket, in the job's folder */
#define BESIDE_PIECE 16384          /* bytes of a stream in a packet */
#define BESIDE_PACKET_MAX 40960     /* bytes of a packet: a command's words fit */

enum beside_sort {
    BESIDE_OPEN = 'O',
    BESIDE_INPUT = 'I',
    BESIDE_ENDS = 'E',
    BESIDE_SIGNAL = 'S',
    BESIDE_OUTPUT = '1',
    BESIDE_ERROR = '2',
    BESIDE_OVER = 'X',
};

#endif
