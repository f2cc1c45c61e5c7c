/* How the program starts, and its system calls, in the place of musl's in a
 * static binary for x86_64: those are three kilobytes, and set up what foster
 * has no use for, such as a thread's own memory. All other builds take their
 * libc's. See "Initial Stack and Register State" in the psABI, and syscall(2).
 */
#include <sys/syscall.h>

#if !defined __x86_64__ || defined __ILP32__
#error for x86_64 alone
#endif

	.section .note.GNU-stack, "", @progbits

	.bss
	.balign	8
	.globl	__stack_chk_guard
__stack_chk_guard:
	.skip	8
.Lerror:
	.skip	4

	.text

/* On the stack are argc, argv, NULL, the environment, NULL, and pairs of words,
 * up to one of zeros: that of AT_RANDOM points to what nobody can guess. As a
 * canary it begins with a zero, which ends what a string function writes. */
	.globl	_start
_start:
	xor	%ebp, %ebp
	mov	%rsp, %rsi
	lodsq
	mov	%eax, %edi
	mov	%rsi, %rbx
	lea	8(%rsi, %rdi, 8), %rdx
	mov	%rdx, %rsi
.Lenvironment:
	lodsq
	test	%rax, %rax
	jnz	.Lenvironment
.Lauxiliary:
	lodsq
	mov	%eax, %ecx
	lodsq
	jrcxz	.Lstart_main
	cmp	$25, %ecx
	jne	.Lauxiliary
	mov	(%rax), %rax
	xor	%al, %al
	mov	%rax, __stack_chk_guard
.Lstart_main:
	mov	%rbx, %rsi
	call	main
	mov	%eax, %edi
	call	_exit

	.globl	__stack_chk_fail
__stack_chk_fail:
	hlt

	.globl	__errno_location, ___errno_location
__errno_location:
___errno_location:
	mov	$.Lerror, %eax
	ret

	.globl	memcpy
memcpy:
	mov	%rdi, %rax
	mov	%rdx, %rcx
	rep movsb
	ret

/* The child returns first, on the stack that it shares with its parent. */
	.globl	vfork
vfork:
	pop	%rdx
	push	$SYS_vfork
	pop	%rax
	syscall
	push	%rdx
	jmp	.Lresult

	.globl	syscall
syscall:
	mov	%rdi, %rax
	mov	%rsi, %rdi
	mov	%rdx, %rsi
	mov	%rcx, %rdx
	mov	%r8, %rcx
	mov	%r9, %r8
	mov	8(%rsp), %r9

/* The call whose number is in rax. A fourth argument is in rcx for a function,
 * and in r10 for the kernel. */
.Lcall:	mov	%rcx, %r10
	syscall
.Lresult:	cmp	$-4096, %rax
	ja	.Lfailed
	ret
.Lfailed:	neg	%eax
	mov	%eax, .Lerror
	or	$-1, %rax
	ret

.macro	define name, number
	.globl	\name
\name:	push	$\number
	pop	%rax
	jmp	.Lcall
.endm
	define	access, SYS_access
	define	chdir, SYS_chdir
	define	close, SYS_close
	define	execve, SYS_execve
	define	_exit, SYS_exit_group
	define	ftruncate, SYS_ftruncate
	define	geteuid, SYS_geteuid
	define	getpid, SYS_getpid
	define	getppid, SYS_getppid
	define	getsid, SYS_getsid
	define	kill, SYS_kill
	define	lseek, SYS_lseek
	define	poll, SYS_poll
	define	pread, SYS_pread64
	define	pwrite, SYS_pwrite64
	define	read, SYS_read
	define	setpgid, SYS_setpgid
	define	statfs, SYS_statfs
	define	uname, SYS_uname
	define	wait4, SYS_wait4
	define	write, SYS_write

/* Those that the kernel has with more arguments. */
	.globl	getpgrp
getpgrp:
	xor	%edi, %edi
	define	getpgid, SYS_getpgid
	.globl	send
send:	xor	%r9d, %r9d
	xor	%r8d, %r8d
	define	sendto, SYS_sendto
	.globl	waitid
waitid:	xor	%r8d, %r8d
	define	wait_five, SYS_waitid
